"""Functions of scalars applied to each element of tiles: their branches on elements become choices between two tiles."""

from __future__ import annotations

import math
from typing import Any

from ...errors import error
from . import shape
from .types import unwrap
from .value import constant_of, native, tensor, to_tensor, tracer, wrap


class Choices:
    """The front end's region protocol: both branches of an `if` are computed, and each element takes its own."""

    def __init__(self, blocks: Any) -> None:
        self.blocks = blocks
        self.conditions: list[tensor] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.blocks, name)

    def if_begin(self, condition: tensor) -> None:
        self.conditions.append(condition)

    def if_else(self) -> None:
        pass

    def if_end(self, thens: list[Any], elses: list[Any]) -> list[tensor]:
        condition = self.conditions.pop()
        pairs = [(y if x is None else x, x if y is None else y) for x, y in zip(thens, elses)]  # None: any value does
        return [wrap(native().select(condition, x, y)) for x, y in pairs]


def columns(x: tensor, pack: int) -> list[tensor]:
    """Each `pack`-th element of a tile of one dimension, from each start."""
    if pack == 1:
        return [x]
    even, odd = shape.split(shape.reshape(x, [x.numel // 2, 2]))
    evens, odds = columns(even, pack // 2), columns(odd, pack // 2)
    return [column for both in zip(evens, odds) for column in both]


def interleaved(parts: list[tensor]) -> tensor:
    """The inverse of `columns`."""
    if len(parts) == 1:
        return parts[0]
    return shape.ravel(shape.join(interleaved(parts[::2]), interleaved(parts[1::2])))


def map_elementwise(scalar_fn: Any, *args: Any, pack: int = 1, is_pure: bool = True) -> Any:
    """The tiles that a function of scalars gives, called for each element; with `pack`, for so many consecutive elements of every
    tile at once."""
    pack = constant_of(pack, "map_elementwise's pack")
    if not isinstance(pack, int) or pack < 1 or pack & (pack - 1):
        raise error(ValueError, f"pack must be a power of two, got {pack!r}")
    values = [unwrap(a) for a in args]
    tiles = [v for v in values if isinstance(v, tensor) and v.handle.shape]
    if not tiles:
        raise error(TypeError, "map_elementwise needs at least one tile")
    common = tiles[0].handle
    for tile in tiles[1:]:
        common = native().broadcast(common, tile)[0]
    sizes = list(common.shape)
    lanes = math.prod(sizes)
    if lanes % pack:
        raise error(ValueError, f"a tile of {lanes} elements cannot be taken {pack} at a time")

    def values_of(value: Any) -> list[Any]:
        if not isinstance(value, tensor) or not value.handle.shape:
            return [value] * pack  # a scalar is the same for all elements
        return columns(shape.ravel(shape.broadcast_to(value, sizes)), pack)

    trace = tracer()
    with trace.per_lane():
        results = trace.call(scalar_fn, *(column for value in values for column in values_of(value)))
    several = isinstance(unwrap(results), (tuple, list))
    results = list(results) if several else [results]
    if len(results) % pack:
        raise error(ValueError, f"the function gives {len(results)} values for {pack} elements each")
    made = [shape.broadcast_to(to_tensor(v), [lanes // pack]) for v in results]
    outputs = [shape.reshape(interleaved(made[i : i + pack]), sizes) for i in range(0, len(made), pack)]
    return tuple(outputs) if several and len(outputs) > 1 else outputs[0]
