"""Vectors of a few numbers and arithmetic on them, lane by lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import error
from ..tracing.values import Val, binary, current_builder, is_number, read, unary
from ..tracing.vectors import Ramp as Ramp
from ..tracing.vectors import Vector, lanes_of, lanewise


def Broadcast(value: Any, lanes: int) -> Vector:
    """The number in every lane."""
    if not isinstance(lanes, int) or lanes < 1:
        raise error(TypeError, f"T.Broadcast takes a number of lanes known at compile time, got {lanes!r}")
    return Vector([read(value)] * lanes)


def Shuffle(vectors: Sequence[Any], indices: Sequence[int]) -> Any:
    """The lanes of some vectors, one after the other, at these indices."""
    lanes = [lane for vector in vectors for lane in (lanes_of(vector) or [vector])]
    if not all(isinstance(i, int) and 0 <= i < len(lanes) for i in indices):
        raise error(ValueError, f"T.Shuffle takes indices 0 to {len(lanes) - 1} known at compile time, got {list(indices)}")
    chosen = [read(lanes[i]) for i in indices]
    return chosen[0] if len(chosen) == 1 else Vector(chosen)


def extract_lane(vector: Any, lane: int) -> Any:
    """One lane of a vector."""
    lanes = lanes_of(vector)
    if lanes is None or not 0 <= lane < len(lanes):
        raise error(ValueError, f"T.extract_lane takes a vector and one of its lanes, got {vector!r} and {lane!r}")
    return read(lanes[lane])


def _each(function: Any, *operands: Any) -> Any:
    lanes = lanewise(function, operands)
    return function(*map(read, operands)) if lanes is None else lanes


def add2(x: Any, y: Any) -> Any:
    """x + y in each lane."""
    return _each(lambda a, b: binary("+", a, b), x, y)


def sub2(x: Any, y: Any) -> Any:
    """x - y in each lane."""
    return _each(lambda a, b: binary("-", a, b), x, y)


def mul2(x: Any, y: Any) -> Any:
    """x * y in each lane."""
    return _each(lambda a, b: binary("*", a, b), x, y)


def fma2(x: Any, y: Any, z: Any) -> Any:
    """x * y + z in each lane, with one rounding."""

    def one(a: Any, b: Any, c: Any) -> Any:
        return a * b + c if all(map(is_number, (a, b, c))) else Val(current_builder().math("fma", a, b, c))

    return _each(one, x, y, z)


def max2(x: Any, y: Any) -> Any:
    """The greater one in each lane; NaN loses."""
    return _each(lambda a, b: binary("max", a, b), x, y)


def min2(x: Any, y: Any) -> Any:
    """The smaller one in each lane; NaN loses."""
    return _each(lambda a, b: binary("min", a, b), x, y)


def abs2(x: Any) -> Any:
    """The absolute value in each lane."""
    return _each(lambda a: abs(a) if is_number(a) else unary("abs", a), x)
