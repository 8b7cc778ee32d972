"""Buffers in another order, shape or type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import error
from ..tracing.context import kernel
from ..tracing.memory import Memory, tile_op


def transpose(src: Memory, dst: Memory) -> None:
    """dst[j, i] = src[i, j]."""
    trace = tile_op("T.transpose")
    for side in (src, dst):
        if not isinstance(side, Memory) or side.ndim != 2 or side.is_global:
            raise error(ValueError, "T.transpose takes two 2-dimensional buffers")
    if src.shape != dst.shape[::-1]:
        raise error(ValueError, f"T.transpose of `{src.label()}` {src.shape} does not fit `{dst.label()}` {dst.shape}")
    native = trace.native
    native.buffer_store(dst.native, native.cast(native.permute(native.buffer_load(src.native), [1, 0]), dst.dtype))


def _view(src: Memory, shape: Sequence[int], element: str) -> Memory:
    trace = kernel("T.view")
    if src.is_global:
        raise error(
            NotImplementedError, f"T.view of tensor `{src.label()}`", hint="declare the parameter with the shape you need"
        )
    return Memory(shape, element, src.scope_name, native=trace.native.reinterpret(src.native, list(shape), element))


def reshape(src: Memory, shape: Iterable[int]) -> Memory:
    """The same memory under another shape."""
    return _view(src, tuple(shape), src.dtype)


def view(src: Memory, shape: Iterable[int] | None = None, dtype: str | None = None) -> Memory:
    """The same memory under another shape and element type."""
    element = dtype or src.dtype
    return _view(src, tuple(shape if shape is not None else src.shape), element)
