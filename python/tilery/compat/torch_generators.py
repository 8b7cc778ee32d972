"""Random numbers under the device rule: a generator of "cuda" has an offset, too, from which programs count the numbers that
their kernels draw. Its state is the CPU's, with seed and offset behind it; programs that view it as integers find these two
alone, as in a GPU's state."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

_BYTES = 16  # of seed and offset


def _of_generators(first: Any) -> MutableMapping[Any, int]:
    """Offsets by generator. Older versions of torch have generators without weak references: they are kept, then."""
    try:
        return weakref.WeakKeyDictionary({first: 0})
    except TypeError:
        return {first: 0}


def _state_type(torch: Any) -> Any:
    """What a state's bytes are: a tensor like others, whose int64 are seed and offset (`c0, c1 = state.view(torch.int64)`)."""

    class State(torch.Tensor):  # type: ignore[misc]
        def view(self, *args: Any, **kwargs: Any) -> Any:
            plain = self.as_subclass(torch.Tensor)
            integers = (args or tuple(kwargs.values())) == (torch.int64,) and self.dtype == torch.uint8
            return plain[-_BYTES:].view(torch.int64) if integers else plain.view(*args, **kwargs)

        def __reduce_ex__(self, protocol: Any) -> Any:  # files hold a tensor that loads without us
            return self.as_subclass(torch.Tensor).__reduce_ex__(protocol)

        def __deepcopy__(self, memo: Any) -> Any:
            return self.clone()

    return State


class Offsets:
    """The offsets of the generators that stand for a GPU's: torch's own one, and those that a program makes for "cuda"."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.offsets = _of_generators(torch.default_generator)
        self.state_type = _state_type(torch)

    def add(self, generator: Any) -> None:
        """From now on the generator has an offset."""
        self.offsets[generator] = 0

    def change(self, cls: Any) -> None:
        """Changes the methods of torch.Generator; those without an offset stay what they are."""
        for name, method in (
            ("get_state", self._get_state),
            ("set_state", self._set_state),
            ("get_offset", self._get_offset),
            ("set_offset", self._set_offset),
            ("manual_seed", self._restarts),
            ("seed", self._restarts),
        ):
            setattr(cls, name, self._method(getattr(cls, name), method))

    def _method(self, true: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(true)
        def method(generator: Any, *args: Any, **kwargs: Any) -> Any:
            if generator not in self.offsets:
                return true(generator, *args, **kwargs)
            return ours(true, generator, *args, **kwargs)

        return method

    def _get_state(self, true: Callable[..., Any], generator: Any) -> Any:
        torch = self.torch
        seed = generator.initial_seed()
        behind = torch.tensor([seed - (seed >> 63 << 64), self.offsets[generator]], dtype=torch.int64)
        return torch.cat([true(generator), behind.view(torch.uint8)]).as_subclass(self.state_type)

    def _set_state(self, true: Callable[..., Any], generator: Any, new_state: Any) -> Any:
        """The state of a GPU's generator (16 bytes), of the CPU's, or the CPU's with that of a GPU's behind it."""
        new_state = new_state.as_subclass(self.torch.Tensor)
        behind = new_state[:0]
        if len(new_state) != len(generator.get_state()) - _BYTES:
            new_state, behind = new_state[:-_BYTES].clone(), new_state[-_BYTES:].clone()
        if len(new_state):
            true(generator, new_state)
        seed, offset = behind.view(self.torch.int64).tolist() or (generator.initial_seed(), 0)
        if seed % 2**64 != generator.initial_seed():
            generator.manual_seed(seed % 2**64)
        self.offsets[generator] = offset
        return generator

    def _get_offset(self, true: Callable[..., Any], generator: Any) -> int:
        return self.offsets[generator]

    def _set_offset(self, true: Callable[..., Any], generator: Any, offset: int) -> Any:
        if offset < 0 or offset % 4:
            raise RuntimeError(f"offset must be a multiple of 4, got {offset}")
        self.offsets[generator] = offset
        return generator

    def _restarts(self, true: Callable[..., Any], generator: Any, *args: Any) -> Any:
        self.offsets[generator] = 0
        return true(generator, *args)
