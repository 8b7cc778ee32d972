"""Indices that go on into a tile: `x[i, j]` behind the levels between the program and the tile.

Numbers and whole ranges choose a smaller tile, with the same bounds as the whole one. Tiles of indices pick lanes of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from ..core.tile.creation import arange, full
from ..core.tile.shape import gather, where
from ..core.tile.types import int32, unwrap
from ..core.tile.value import native, tensor, to_tensor, tracer, wrap

WHOLE = slice(None)


def restricted(arranged: Any, items: Sequence[Any]) -> Any:
    """The arrangement with its innermost dimensions indexed.

    :param items: per dimension None for a number, which moves to a level of its own before the tile, or a (start, stop) range.
    """
    if not items:
        return arranged
    result = copy.copy(arranged)
    parent, tile = result, result
    while tile.levels > 1:
        parent, tile = tile, tile.dtype
    chosen, rest = [d for d, item in enumerate(items) if item is None], range(tile.ndim)
    for d, item in enumerate(items):
        if item not in (None, WHOLE):
            tile = tile[tuple(slice(*item) if k == d else WHOLE for k in rest)]
    if chosen:
        tile = tile.tile(tuple(1 if d in chosen else -1 for d in rest))
        kept = tuple(d for d in rest if d not in chosen)
        if kept:
            tile = tile.squeeze(kept)
        tile.dtype = tile.dtype.squeeze(tuple(chosen))
    parent.dtype = tile

    return result


def lanes(items: Sequence[Any], shape: Sequence[int]) -> list[tensor]:
    """The index of every lane in each dimension of a tile of this shape, all of one shape: numbers and tiles of indices in the
    leading dimensions, ranges in the others. Tiles of indices that leave room for the others (of size 1) are taken as placed."""
    rank, rest = len(shape), len(shape) - len(items)
    items = [to_tensor(item).to(int32) if isinstance(item, tensor) else full([], item, int32) for item in items]
    deepest = max(len(item.shape) for item in items)
    placed = bool(rest) and deepest == rank and all(tuple(item.shape[-rest:]) == (1,) * rest for item in items if item.shape)
    own = deepest if not placed else deepest - rest
    result = []
    for item in items:
        ones = 0 if placed and item.shape else rest
        result.append(wrap(native().reshape(item, [*item.shape, *[1] * ones])) if item.shape else item)
    for k, size in enumerate(shape[len(items) :]):
        result.append(wrap(native().reshape(arange(0, size), [1] * (own + k) + [size] + [1] * (rest - k - 1))))
    whole = result[0]
    for item in result[1:]:
        whole = whole + item
    given = list(whole.shape)

    return [item.broadcast_to(given) if given else item for item in result]


def picked(tile: tensor, shape: Sequence[int], items: Sequence[Any], other: Any) -> tensor:
    """The lanes of a tile's value that indices name; `other` for those outside."""
    indices = lanes(items, shape)
    position: Any = 0
    exists: Any = True
    for index, size in zip(indices, shape):
        inside = (index >= 0) & (index < size)
        exists = inside & exists
        position = position * size + where(inside, index, 0)
    count = 1
    for size in shape:
        count *= size
    wanted = list(position.shape)
    flat = wrap(native().reshape(tile, [count]))
    found = wrap(native().reshape(gather(flat, wrap(native().reshape(position, [position.numel])), 0), wanted))

    return where(exists, found, full([], 0 if other is None else other, tile.dtype))


def for_each(items: Sequence[Any], shape: Sequence[int], value: Any, write: Callable[[list[tensor], tensor], None]) -> None:
    """Calls `write(index, scalar)` in a loop over the lanes that indices name, row-major: the last of equal ones stays."""
    indices = lanes(items, shape)
    wanted = list(indices[0].shape)
    count = indices[0].numel
    value = to_tensor(value)
    value = value.broadcast_to(wanted) if value.shape else value
    blocks = tracer().b
    counter, _ = blocks.for_begin(0, count, 1, [], {})

    def lane(tile: tensor) -> tensor:
        if not tile.shape:
            return tile
        flat = wrap(native().reshape(tile, [count]))
        at = wrap(native().reshape(counter.to(int32), [1]))
        return wrap(native().reshape(gather(flat, at, 0), []))

    write([lane(index) for index in indices], lane(value))
    blocks.for_end([])


def number(item: Any) -> Any:
    """An index as the arrangement takes it: a number or a run-time scalar; None for a tile of indices."""
    item = unwrap(item)

    return None if isinstance(item, tensor) and item.shape else item
