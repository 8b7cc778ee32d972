"""Buffers in another order, shape or type."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tilery import _native

from ...errors import error
from ...frontend.wording import counted
from ..tracing.context import kernel
from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import Element, Memory, Region, native_region, tile_op
from ..tracing.shapes import row_major
from ..tracing.values import select


def transpose(src: Any, dst: Any) -> None:
    """dst[..., j, i] = src[..., i, j]: the last two dimensions exchanged; buffers, tensors or regions of them."""
    trace = tile_op("T.transpose")
    sides = [side.whole() if isinstance(side, Memory) else side for side in (src, dst)]
    for side in sides:
        if not isinstance(side, Region) or len(side.extents) < 2:
            raise error(ValueError, "T.transpose takes buffers or regions of two dimensions or more")
    wanted = [*sides[0].extents[:-2], sides[0].extents[-1], sides[0].extents[-2]]
    if list(sides[1].extents) != wanted and [n for n in sides[1].extents if n != 1] != [n for n in wanted if n != 1]:
        inside = len(wanted) == len(sides[1].extents) and all(
            isinstance(have, int) and isinstance(want, int) and have <= want for have, want in zip(sides[1].extents, wanted)
        )
        if not inside:
            labels = [f"`{side.memory.label()}` {tuple(side.extents)}" for side in sides]
            raise error(ValueError, f"T.transpose of {labels[0]} does not fit {labels[1]}")
        sides[1] = Region(sides[1].memory, sides[1].starts, wanted)
    with trace.together():
        _transpose(trace, sides)


def _transpose(trace: Any, sides: Sequence[Any]) -> None:
    native = trace.native
    for side in sides:
        if side.memory.is_global:  # elements outside a tensor read 0, and are not written
            side.starts = [native.constant(start, "int64") if isinstance(start, int) else start for start in side.starts]
    tile = _native.load_region(native, native_region(trace, sides[0], "T.transpose", reads=True))
    kept = [dim for dim, extent in enumerate(sides[0].extents) if extent != 1]
    last = len(sides[0].extents) - 1
    if last in kept and last - 1 in kept:
        rank = len(kept)
        tile = native.permute(tile, [*range(rank - 2), rank - 1, rank - 2])
    _native.store_region(native, native_region(trace, sides[1], "T.transpose"), tile)


def _view_of_tensor(trace: Any, src: Memory, shape: tuple[Any, ...], element: element_type) -> Memory:
    """A tensor over the memory of another, which must have no gaps: each call checks it."""
    sizes = [*src.shape, *shape]
    if all(isinstance(size, int) for size in sizes):
        have, want = math.prod(src.shape) * src.dtype.bits, math.prod(shape) * element.bits
        if have != want:
            raise error(
                AssertionError,
                f"a view must keep the number of bits: `{src.label()}` {src.shape} of {src.dtype} is not {shape} of {element}",
            )
    view = Memory(shape, element, "global", strides=row_major(shape))
    trace.lay_over(view, src)
    return view


def _view(src: Memory, shape: Sequence[int], element: str) -> Memory:
    trace = kernel("T.view")
    if src.is_global:
        return _view_of_tensor(trace, src, tuple(shape), element_type(element))
    alias = trace.native.reinterpret(src.native, list(shape), element_type(element).storage)
    return Memory(shape, element, src.scope_name, native=alias)


def reshape(src: Memory, shape: Iterable[int]) -> Memory:
    """The same memory under another shape."""
    return _view(src, tuple(shape), src.dtype)


def view(src: Memory, shape: Iterable[int] | None = None, dtype: str | None = None) -> Memory:
    """The same memory under another shape and element type."""
    element = dtype or src.dtype
    return _view(src, tuple(shape if shape is not None else src.shape), element)


def index_to_coordinates(index: Any, shape: Sequence[Any]) -> list[Any]:
    """The coordinates of the element that a row-major array of that shape has at a flat index."""
    coordinates: list[Any] = []
    for size in reversed(shape):
        coordinates.insert(0, index % size)
        index = index // size
    return coordinates


def linear_index(*args: Any) -> Any:
    """The flat index of some coordinates, which the extents of all dimensions but the first follow: linear_index(i, j, n)."""
    if len(args) % 2 == 0:
        hint = "write linear_index(i, j, n), linear_index(i, j, k, n, m)"
        raise error(
            ValueError, f"T.linear_index takes coordinates and one extent less, got {counted(len(args), 'number')}", hint=hint
        )
    coordinates, extents = args[: len(args) // 2 + 1], args[len(args) // 2 + 1 :]
    index = coordinates[0]
    for coordinate, extent in zip(coordinates[1:], extents):
        index = index * extent + coordinate
    return index


def buffer_store(buffer: Any, value: Any, indices: Any, predicate: Any = None) -> None:
    """buffer[indices] = value, as a function; with a predicate where it is true."""
    kernel("T.buffer_store")
    if not isinstance(buffer, Memory):
        raise error(TypeError, f"T.buffer_store takes a buffer, got {buffer!r}")
    element = Element(buffer, list(indices) if isinstance(indices, (list, tuple)) else [indices])
    element.store(value if predicate is None else select(predicate, value, element.read()))
