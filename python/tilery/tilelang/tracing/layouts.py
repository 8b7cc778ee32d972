"""Tensors whose elements lie where a layout says: T.annotate_layout of a parameter. Buffers of a kernel may lie anywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from .context import kernel
from .memory import Element, Memory, Region, Unknown, region_memory
from .shapes import row_major
from .values import Expr, Val, binary, is_number, read, same_type, select


def check_injective(buffer: Memory, layout: Any) -> None:
    """Two elements must not share a place."""
    import numpy as np

    shape = layout.get_input_shape()
    if not all(isinstance(n, int) for n in shape) or math.prod(shape) == 0:
        return
    for dimensions, numbers in layout.groups():
        indices = layout.grid(dimensions)
        count = math.prod(shape[dim] for dim in dimensions)
        all_places = layout.places(indices)
        places = np.stack([np.broadcast_to(all_places[number], (count,)) for number in numbers] or [np.zeros(count, int)])
        extents = [int(row.max()) - int(row.min()) + 1 for row in places]
        if math.prod(extents) <= 4 * count:  # a table of places is quicker than sorting them
            taken = np.zeros(math.prod(extents), bool)
            taken[np.ravel_multi_index(places - places.min(axis=1, keepdims=True), extents)] = True
            if np.count_nonzero(taken) == count:
                continue
        _, first, of = np.unique(places, axis=1, return_index=True, return_inverse=True)
        if len(first) == count:
            continue
        of = of.reshape(-1)
        clash = int(np.argmax(first[of] != np.arange(count)))
        a, b = (tuple(int(np.broadcast_to(n, (count,))[at]) for n in indices) for at in (first[of[clash]], clash))
        kind = "tensor" if buffer.is_global else "shared buffer" if "shared" in buffer.scope_name else "buffer"
        raise error(
            ValueError,
            f"the layout of {kind} `{buffer.label()}` must be injective: elements {a} and {b} both map to physical coordinates "
            f"{tuple(int(np.broadcast_to(place, (count,))[clash]) for place in all_places)}",
        )


def lay_out(memory: Memory, layout: Any) -> None:
    """From here on the elements of a tensor lie where the layout says, within the tensor's own memory, row by row of its
    places."""
    trace = kernel("T.annotate_layout")
    if tuple(layout.get_input_shape()) != tuple(memory.shape):
        raise error(
            ValueError,
            f"the layout of `{memory.label()}` is for {tuple(layout.get_input_shape())}, its shape is {tuple(memory.shape)}",
        )
    if not all(isinstance(n, int) for n in memory.shape):
        raise error(NotImplementedError, f"a layout of `{memory.label()}`, whose shape is known at run time only")
    places = layout.get_output_shape()
    if math.prod(places) > math.prod(memory.shape):
        raise error(
            ValueError,
            f"the layout of `{memory.label()}` has places up to {tuple(places)}, which its {math.prod(memory.shape)} elements "
            "do not fill",
        )
    if all(layout.map_forward_index(corner) == list(corner) for corner in _corners(memory.shape)) and layout.is_identity():
        return
    physical = Memory(places, memory.dtype, "global", memory.name, strides=row_major(places))
    trace.lay_over(physical, memory)
    trace.open.layouts[id(memory)] = lambda element: Element(
        physical, [read(place) for place in layout.map_forward_index([read(index) for index in element.indices])]
    )


def _corners(shape: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(0 for _ in shape), tuple(n - 1 for n in shape)]


def is_laid_out(trace: Any, side: Any) -> bool:
    """Does a side of a copy lie as a layout says?"""
    memory = side if isinstance(side, Memory) else getattr(side, "memory", None)
    return trace.open is not None and id(memory) in trace.open.layouts and not trace.copies_of(memory)


def inside(element: Element) -> Any:
    """Does an element of a tensor exist?"""
    condition: Any = True
    for index, size in zip(element.indices, element.memory.shape):
        if isinstance(index, Expr):
            here = binary("and", binary(">=", index, 0), binary("<", index, size))
            condition = here if condition is True else binary("and", condition, here)
        elif not 0 <= index < size:
            return False
    return condition


def each_element(src: Any, dst: Any, what: str, put: Callable[[Element, Any], Any] = Element.store) -> None:
    """dst = src (or what `put` does to an element of dst with one of src) element by element, where one of them lies as a layout
    says, or extents are known at run time only. src may be a number. Elements outside read 0 and are not written."""
    trace = kernel(what)
    one = is_number(src) or isinstance(src, Expr)
    extents = [n for n in _extents(dst if one else src) if not _is_one(n)]
    native = trace.native
    counts = same_type(native, *extents) if extents else [native.constant(1, "int32")]
    indices = [Val(index) for index in native.parallel_begin(counts)]
    target = _element(*_starts(dst, extents, what), indices)
    value = src
    if isinstance(src, Element) or not one:
        source = _element(*_starts(src, extents, what), indices)
        value = source.read()
        if source.memory.is_global and (known := inside(source)) is not True:
            value = select(known, value, 0)
    condition = inside(target) if target.memory.is_global else True
    if condition is True:
        put(target, value)
    elif condition is not False:
        native.if_begin(trace.condition(condition))
        put(target, value)
        native.if_else()
        native.if_end([], [])
    native.parallel_end()


def _is_one(extent: Any) -> bool:
    return isinstance(extent, int) and extent == 1


def _extents(side: Any) -> list[Any]:
    return [binary("-", n.stop, n.start) if isinstance(n, Unknown) else n for n in side.shape]


def are_known(side: Any) -> bool:
    """Does a side of a copy have extents, all known at compile time?"""
    return isinstance(side, (Memory, Region)) and all(isinstance(n, int) for n in side.shape)


def _starts(side: Any, extents: Sequence[Any], what: str) -> tuple[Memory, list[Any], list[int]]:
    """(memory, where the side begins, which of its dimensions are walked)."""
    memory = region_memory(side)
    if isinstance(side, Element):
        return memory, list(side.indices), list(range(memory.ndim - len(extents), memory.ndim))
    starts = list(side.starts) if isinstance(side, Region) else [0] * memory.ndim
    own = _extents(side)
    long = [dim for dim, n in enumerate(own) if not _is_one(n)]
    pairs = list(zip((own[dim] for dim in long), extents))
    if len(long) != len(extents) or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
        raise error(ValueError, f"{what}: `{memory.label()}` {tuple(own)} does not fit {tuple(extents)}")
    return memory, starts, long


def _element(memory: Memory, starts: Sequence[Any], dims: Sequence[int], indices: Sequence[Any]) -> Element:
    place = list(starts)
    for dim, index in zip(dims, indices):
        place[dim] = index if isinstance(place[dim], int) and place[dim] == 0 else binary("+", place[dim], index)
    return Element(memory, place)
