"""Memory that nobody has written: while kernels are debugged, what torch hands out by `torch.empty` and its like holds a pattern
of random bytes, which the reference interpreter knows."""

from __future__ import annotations

import math
import sys
import threading
import types
import warnings
from collections.abc import Iterable
from typing import Any

from tilery import _native

from .arrays import layout, span

_watching = threading.local()  # modes of torch belong to a thread
_patterns: dict[Any, Any] = {}  # of a GPU's memory, by device


def watch() -> None:
    """From now on in this thread, tensors of `torch.empty`, `empty_like`, `empty_strided`, `empty_permuted`, `new_empty` and
    `new_empty_strided` are filled. Costs about a small operator's time at each call of torch, and writing that memory once.
    Without effect where torch is not imported."""
    if "torch" not in sys.modules or getattr(_watching, "mode", None):
        return
    import torch
    from torch.overrides import TorchFunctionMode, _len_torch_function_stack, _pop_mode, _push_mode  # type: ignore

    # `torch.empty` may be a wrapper (compat's). A mode is told of torch's own function, of methods also of the wrapper.
    names = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
    wrappers = {torch.Tensor.new_empty, torch.Tensor.new_empty_strided}
    of_torch = (types.BuiltinFunctionType, types.MethodDescriptorType)

    class Watch(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            makes = func in wrappers or (isinstance(func, of_torch) and func.__name__ in names)
            if makes and not (kwargs and "out" in kwargs):
                _fill(made)
            return made

    # Below the modes that are entered now, each of which will take the topmost one away, and above the default device, which
    # torch keeps lowest.
    default = getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)
    above = [_pop_mode() for _ in range(_len_torch_function_stack())]
    if above and above[-1] is default:
        _push_mode(above.pop())
    _watching.mode = Watch()
    for mode in (_watching.mode, *reversed(above)):
        _push_mode(mode)


def _fill(made: Any) -> None:
    """A new tensor of torch, whose storage is its own."""
    import torch

    if torch.compiler.is_compiling() or type(made) is not torch.Tensor or made.layout is not torch.strided:
        return
    storage = made.untyped_storage()
    if made.device.type == "cpu":
        _native.fill_unwritten(storage.data_ptr(), storage.nbytes())
    elif made.is_cuda and storage.nbytes() >= 16 and not torch.cuda.is_current_stream_capturing():
        with torch.no_grad():
            pattern = _patterns.get(made.device)
            if pattern is None:
                known = list(_native.unwritten_pattern())
                pattern = _patterns[made.device] = torch.tensor(known, dtype=torch.uint8, device=made.device)
            bytes = torch.tensor([], dtype=torch.uint8, device=made.device).set_(storage)
            whole = len(bytes) // 16 * 16
            bytes[:whole].view(-1, 16).copy_(pattern)


def fill(made: Any, width: int) -> None:
    """A new tensor in the CPU's memory, of elements of `width` bytes."""
    _, first, size = span(made, width)
    _native.fill_unwritten(first, size)


def _holes(tensor: Any, width: int) -> tuple[int, int, int]:
    """(elements that nobody has written, as far as the pattern tells, the first of them, all elements) of a tensor in the CPU's
    memory; of one with gaps between its elements: none."""
    shape, _ = layout(tensor)
    _, first, size = span(tensor, width)
    if math.prod(shape) * width != size:
        return 0, 0, 0
    found, start = _native.unwritten_bytes(first, size)
    return found // width, start // width, size // width


class Outputs:
    """What a launch leaves unwritten of tensors that nobody had written before.

    :param arguments: [(name, tensor, bytes of an element)]; one that holds nothing before a launch can only be an output.
    """

    def __init__(self, kernel: str, arguments: Iterable[tuple[str, Any, int]]) -> None:
        self.kernel = kernel
        self.empty = [found for found in arguments if _is_empty(*found[1:])]

    def check(self, made: Iterable[tuple[str, Any, int]]) -> None:
        """After the launch. Warns once: of arguments that it has left as they were, and of those that it `made` itself, for which
        nobody else can write what it has left out.

        :param made: as `arguments`, but for names as messages have them: "output `y`", "the result".
        """
        lines = [f"no element of argument `{name}`" for name, *tensor in self.empty if _is_empty(*tensor)]
        for name, *tensor in made:
            found, first, all = _holes(*tensor)
            if found == all > 0:
                lines.append(f"no element of {name}")
            elif found:
                lines.append(f"{all - found} of the {all} elements of {name} (not element {first})")
        if lines:
            text = f"kernel `{self.kernel}` has written {', '.join(lines)}: what is there now is what memory held by chance"
            warnings.warn(text, RuntimeWarning, stacklevel=callers_level())


def _is_empty(tensor: Any, width: int) -> bool:
    found, _, all = _holes(tensor, width)
    return found == all > 0


def callers_level() -> int:
    """Of the frame that launches, seen from who calls this."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("tilery."):
        frame, level = frame.f_back, level + 1
    return level
