"""Functions that upstream's `standard` keeps for itself, and that programs pass to reduce and associative_scan all the same."""

from __future__ import annotations

from typing import Any

from ...core.tile import elementwise, shape
from ...core.tile.types import constexpr
from ..runtime.jit import constexpr_function, jit

_maximum, _minimum, _where = elementwise.maximum, elementwise.minimum, shape.where


@jit
def _sum_combine(a, b):  # type: ignore[no-untyped-def]
    return a + b


@jit
def _prod_combine(a, b):  # type: ignore[no-untyped-def]
    return a * b


@jit
def _xor_combine(a, b):  # type: ignore[no-untyped-def]
    return a ^ b


@jit
def _or_combine(x, y):  # type: ignore[no-untyped-def]
    return x | y


@jit
def _elementwise_max(a, b):  # type: ignore[no-untyped-def]
    return _maximum(a, b)


@jit
def _elementwise_min(a, b):  # type: ignore[no-untyped-def]
    return _minimum(a, b)


@jit
def _argmax_combine(value1, index1, value2, index2, tie_break_left: constexpr):  # type: ignore[no-untyped-def]
    first = value1 > value2
    if tie_break_left:
        first = first or (value1 == value2 and index1 < index2)
    return _where(first, value1, value2), _where(first, index1, index2)


@jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmax_combine(value1, index1, value2, index2, True)


@jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmax_combine(value1, index1, value2, index2, False)


@jit
def _argmin_combine(value1, index1, value2, index2, tie_break_left: constexpr):  # type: ignore[no-untyped-def]
    first = value1 < value2
    if tie_break_left:
        first = first or (value1 == value2 and index1 < index2)
    return _where(first, value1, value2), _where(first, index1, index2)


@jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmin_combine(value1, index1, value2, index2, True)


@jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):  # type: ignore[no-untyped-def]
    return _argmin_combine(value1, index1, value2, index2, False)


@constexpr_function
def _is_power_of_two(i: int) -> bool:
    return i > 0 and i & (i - 1) == 0


def find(name: str) -> Any:
    """What `standard` offers of these names; None: nothing."""
    return globals().get(name) if name.startswith("_") else None
