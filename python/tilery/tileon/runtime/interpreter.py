"""Kernels whose launches run the reference interpreter, as TRITON_INTERPRET=1 asks for it."""

from __future__ import annotations

from typing import Any

from ...core.tile import types
from .jit import InterpretedFunction

__all__ = ["HostValue", "InterpretedFunction", "TensorHandle"]


class TensorHandle:
    """Numbers of the interpreter: `data` (a NumPy array) and their type."""

    def __init__(self, data: Any, dtype: types.dtype) -> None:
        self.data, self.dtype = data, dtype
        self.attr: dict[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self.data.all())


class HostValue:
    """A number of the host as a kernel has it: of type `dtype`, in `handle`."""

    def __init__(self, handle: TensorHandle, dtype: types.dtype) -> None:
        self.handle, self.dtype = handle, dtype


def _implicit_cvt(arg: Any) -> Any:
    """The value that a Python number is in a kernel; anything else as it is."""
    import numpy

    if isinstance(arg, bool):
        kind, storage = types.int1, numpy.bool_
    elif isinstance(arg, int):
        wide = not -(2**31) <= arg < 2**31
        kind, storage = (types.int64, numpy.int64) if wide else (types.int32, numpy.int32)
        if arg >= 2**63:
            kind, storage = types.uint64, numpy.uint64
    elif isinstance(arg, float):
        kind, storage = types.float32, numpy.float32
    else:
        return arg
    return HostValue(TensorHandle(numpy.array([arg], dtype=storage), kind), kind)
