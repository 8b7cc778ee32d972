"""Launches by the oracle: with `debug=True` they check bounds, uninitialised reads and races; with TILERY_ORACLE=1 every
launch is one."""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tilery import _native

from ..errors import error, kind
from . import unwritten
from .arrays import layout, on_gpu, span

Grid = tuple[int, int, int]
Launch = Callable[[Any, Mapping[str, Any]], Any]  # (grid, arguments) -> what the launch returns
_MASK = (1 << 64) - 1
_bounds: _native.Bounds | None = None  # what launches by the oracle add to
_FLOATS = {"float64": "<d", "float32": "<f", "float16": "<e"}


@contextmanager
def bounds(steps: int = 0, tensor_cores: bool = False) -> Iterator[_native.Bounds]:
    """Launches by the oracle within note what any right implementation may leave in memory (the CPU's). With `steps`: one that
    executes more ops is given up as endless; `tensor_cores`: products are those of a GPU, which rounds their factors."""
    global _bounds
    before, _bounds = _bounds, _native.Bounds(steps, tensor_cores)
    try:
        yield _bounds
    finally:
        _bounds = before


def plan(launch: Launch, device: int) -> Launch:
    """The oracle's launch plan for arguments on a GPU, or on the CPU (-1)."""
    return launch if device < 0 else LaunchOfCopies(launch)


class LaunchOfCopies:
    """A launch plan whose tensors lie on a GPU: it runs on copies of their storages in the CPU's memory, which are copied back
    if no error was found. Tensors of one storage stay tensors of one storage."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    def __call__(self, grid: Any, arguments: Mapping[str, Any]) -> Any:
        import torch

        storages: dict[int, tuple[Any, Any]] = {}
        device = None

        def copied(name: str, value: Any) -> Any:
            """The value with elements in the CPU's memory."""
            nonlocal device
            if isinstance(value, torch.Tensor):
                if not value.is_cuda:
                    return value
                device, storage = value.device, value.untyped_storage()
                _, here = storages.setdefault(storage.data_ptr(), (storage, storage.cpu()))
                empty = torch.empty(0, dtype=value.dtype, device="cpu")
                return empty.set_(here, value.storage_offset(), value.shape, value.stride())
            if isinstance(getattr(value, "base", None), torch.Tensor):  # a tensor that is seen as another type
                view = copy.copy(value)
                view.base = copied(name, value.base)
                return view
            if hasattr(value, "data_ptr") or on_gpu(value):
                raise error(
                    NotImplementedError,
                    f"argument `{name}` ({type(value).__name__}) lies on a GPU, where the reference interpreter cannot read it",
                    hint="pass a torch tensor, or one in the CPU's memory",
                )
            return value

        here = {name: copied(name, value) for name, value in arguments.items()}

        def moved(result: Any) -> Any:
            if isinstance(result, (tuple, list)):
                return type(result)(map(moved, result))
            return result.to(device) if isinstance(result, torch.Tensor) else result

        result = self.launch(grid, here)
        for storage, changed in storages.values():
            storage.copy_(changed)
        return moved(result)


def _bits(value: Any, dtype: str) -> int:
    """A scalar argument's slot."""
    if dtype == "bfloat16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    if dtype in _FLOATS:
        return int.from_bytes(struct.pack(_FLOATS[dtype], value), "little")
    return int(value) & _MASK


def _in_range(name: str, value: Any, dtype: str) -> None:
    """As launches of machine code: an integer must be one that its type holds."""
    if "int" not in dtype or not isinstance(value, int):
        return
    bits, signed = 8 * _native.byte_width(dtype), not dtype.startswith("u")
    least = -(1 << bits - 1) if signed else 0
    if not least <= value < least + (1 << bits):
        raise kind(OverflowError, TypeError)(f"argument '{name}' is the int {value}, which does not fit into {dtype}")


class OracleLaunch:
    """A launch plan that interprets. parameters: [(name, element type, is it a pointer)], one a kernel argument."""

    def __init__(
        self, module: _native.Module, kernel: str, parameters: Sequence[tuple[str, str, bool]], debug: bool, result: Any = None
    ) -> None:
        self.module, self.kernel, self.parameters, self.debug, self.result = module, kernel, parameters, debug, result
        if debug:
            unwritten.watch()

    def _bound(self, arguments: Mapping[str, Any]) -> tuple[list[int], list[tuple[int, int, str, int]]]:
        """(slots, allocations)."""
        slots, allocations = [], []
        for name, dtype, pointer in self.parameters:
            value = arguments[name]
            if not pointer:
                slots.append(_bits(value, dtype))
                continue
            address, first, size = span(value, _native.byte_width(dtype))
            slots.append(address)
            allocations.append((first, size, name, _native.byte_width(dtype)))
        return slots, allocations

    def count(self, grid: Grid, arguments: Mapping[str, Any], on_cpu: bool) -> list[_native.Work]:
        """What the launch would read, write and compute; it is not run."""
        return _native.count(self.module, self.kernel, grid, self._bound(arguments)[0], on_cpu) if min(grid) > 0 else []

    def __call__(self, grid: Grid, arguments: Mapping[str, Any]) -> Any:
        slots, allocations = self._bound(arguments)
        if min(grid) > 0:
            _native.interpret(self.module, self.kernel, grid, slots, allocations, self.debug, _bounds)
        return self.result


class OracleHostLaunch:
    """A launch plan that interprets a host function. parameters: [(name, element type, rank, or -1 for a scalar)];
    allocate(extents, dtype, like) makes the tensors it asks for; outputs: the names of those that it returns, where they have
    names; match_sizes: with `debug`, factors of a product must have the same inner size."""

    def __init__(
        self,
        module: _native.Module,
        host: str,
        parameters: Sequence[tuple[str, str, int]],
        debug: bool,
        allocate: Callable[[Sequence[int], str, Any], Any] | None = None,
        outputs: Sequence[str] = (),
        match_sizes: bool = False,
    ) -> None:
        self.module, self.host, self.parameters, self.debug, self.allocate = module, host, parameters, debug, allocate
        self.outputs, self.match_sizes = outputs, match_sizes and debug
        if debug:
            unwritten.watch()

    def _bound(self, arguments: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """(args, allocations, [(name, tensor, bytes of an element)])."""
        args: list[Any] = []
        allocations, known = [], []
        for name, dtype, rank in self.parameters:
            value = arguments[name]
            if rank < 0:
                _in_range(name, value, dtype)
                args.append(_bits(value, dtype))
                continue
            address, first, size = span(value, _native.byte_width(dtype))
            args.append((address, *layout(value)))
            allocations.append((first, size, name, _native.byte_width(dtype)))
            known.append((name, value, _native.byte_width(dtype)))
        return args, allocations, known

    def count(self, grid: None, arguments: Mapping[str, Any], on_cpu: bool) -> list[_native.Work]:
        """What each launch would read, write and compute; none is run."""
        return _native.count_host(self.module, self.host, self._bound(arguments)[0], on_cpu)

    def __call__(self, grid: None, arguments: Mapping[str, Any]) -> Any:
        args, allocations, known = self._bound(arguments)
        tensors = [value for _, value, _ in known]
        made: list[Any] = []
        widths: list[int] = []

        def allocate(extents: Sequence[int], dtype: str) -> int:
            assert self.allocate
            made.append(self.allocate(extents, dtype, tensors[0] if tensors else None))
            widths.append(_native.byte_width(dtype))
            if self.debug:
                unwritten.fill(made[-1], widths[-1])
            return span(made[-1], widths[-1])[0]

        left = unwritten.Outputs(self.host.removesuffix("_host"), known) if self.debug else None
        options = self.debug, _bounds, self.match_sizes
        returned = _native.interpret_host(self.module, self.host, args, allocations, allocate, *options)
        results = [made[number] for number in returned]
        if left:
            one, count = len(returned) == 1, len(returned)
            unnamed = ["the result"] if one else [f"result {i} of {count}" for i in range(1, count + 1)]
            names = [f"output `{name}`" for name in self.outputs] or unnamed
            left.check((name, made[number], widths[number]) for name, number in zip(names, returned))
        return results[0] if len(results) == 1 else results or None
