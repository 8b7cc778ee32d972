"""Functions of scalars applied to each element of tiles: branches on elements become choices between two tiles, and loops run
until no element is in them."""

from __future__ import annotations

import math
from typing import Any

from ...errors import error
from ...frontend.wording import counted
from ..ignored import ignore
from . import shape
from .types import unwrap
from .value import constant_of, native, tensor, to_tensor, tracer, wrap


class Choices:
    """The front end's region protocol for all elements at once: both branches of an `if` are computed, and each element takes its
    own; a loop runs until no element goes on, and elements that have left it keep what they have."""

    def __init__(self, blocks: Any, lanes: int) -> None:
        self.blocks = blocks
        self.lanes = lanes
        self.conditions: list[Any] = []  # of the branches and loops around: where it is true an element is there
        self.carried: list[list[tensor]] = []  # what each open loop's variables are when its body begins

    def __getattr__(self, name: str) -> Any:
        return getattr(self.blocks, name)

    def _here(self) -> tensor:
        """For each element: does it come here?"""
        here = wrap(native().full([self.lanes], 1, "bool"))
        for condition in self.conditions:
            here = wrap(native().binary("and", here, condition))
        return here

    def _wide(self, values: list[Any]) -> list[tensor]:
        return [shape.broadcast_to(v, [self.lanes]) for v in values]

    def if_begin(self, condition: tensor) -> None:
        self.conditions.append(condition)

    def if_else(self) -> None:
        self.conditions.append(wrap(native().unary("not", self.conditions.pop())))

    def if_end(self, thens: list[Any], elses: list[Any]) -> list[tensor]:
        otherwise = self.conditions.pop()
        pairs = [(y if x is None else x, x if y is None else y) for x, y in zip(thens, elses)]  # None: any value does
        return [wrap(native().select(otherwise, y, x)) for x, y in pairs]

    def for_begin(self, lo: Any, hi: Any, step: Any, inits: list[Any], attributes: Any) -> tuple[Any, list[Any]]:
        bounds = [native().materialize(bound) for bound in (lo, hi, step)]
        if all(not bound.shape for bound in bounds):
            counter, carried = self.blocks.for_begin(lo, hi, step, self._wide(inits), attributes)
            self.conditions.append(wrap(native().full([], 1, "bool")))
        else:
            lo, hi, step = (self._bound(bound) for bound in bounds)
            count = wrap(native().select(self._here() & (hi > lo), (hi - lo + (step - 1)) // step, 0))
            most = wrap(native().reduce("max", count, 0, False))
            turn, carried = self.blocks.for_begin(0, most, 1, self._wide(inits), attributes)
            self.conditions.append(turn < count)
            counter = lo + turn * step
        self.carried.append(carried)
        return counter, carried

    @staticmethod
    def _bound(bound: Any) -> tensor:
        native().require_numbers(bound, "range")
        if bound.dtype.startswith(("float", "bfloat")):
            raise error(TypeError, f"the bounds of range must be integers, got {bound.type}")
        return wrap(native().cast(bound, "int64" if bound.dtype in ("int64", "uint32", "uint64") else "int32"))

    def for_end(self, yields: list[Any]) -> list[tensor]:
        return self.blocks.for_end(self._kept(yields))

    def while_begin(self, inits: list[Any]) -> list[Any]:
        # The program's own condition is computed in the body, which has to know it: one turn more, which nobody takes.
        runs, *values = self.blocks.while_begin([self._here(), *self._wide(inits)])
        runs, *values = self.blocks.while_body(wrap(native().reduce("or", runs, 0, False)))
        self.conditions.append(runs)
        self.carried.append(values)
        return values

    def while_body(self, condition: tensor) -> list[Any]:
        self.conditions.append(wrap(native().binary("and", self.conditions.pop(), condition)))
        return self.carried[-1]

    def while_end(self, yields: list[Any]) -> list[tensor]:
        runs = shape.broadcast_to(self.conditions[-1], [self.lanes])
        return self.blocks.while_end([runs, *self._kept(yields)])[1:]

    def _kept(self, yields: list[Any]) -> list[tensor]:
        """What the variables of the innermost loop are after a turn; the loop is closed."""
        condition, before = self.conditions.pop(), self.carried.pop()
        return self._wide([wrap(native().select(condition, y, old)) for y, old in zip(yields, before)])


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
    ignore("tl.map_elementwise", is_pure=unwrap(is_pure))
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
    with trace.per_lane(lanes // pack):
        results = trace.call(scalar_fn, *(column for value in values for column in values_of(value)))
    several = isinstance(unwrap(results), (tuple, list))
    results = list(results) if several else [results]
    if len(results) % pack:
        raise error(ValueError, f"the function gives {counted(len(results), 'value')} for {counted(pack, 'element')} each")
    made = [shape.broadcast_to(to_tensor(v), [lanes // pack]) for v in results]
    outputs = [shape.reshape(interleaved(made[i : i + pack]), sizes) for i in range(0, len(made), pack)]
    return tuple(outputs) if several and len(outputs) > 1 else outputs[0]
