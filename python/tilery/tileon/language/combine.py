"""Functions that upstream's `standard` keeps for itself, and that programs pass to reduce and associative_scan all the same."""

from __future__ import annotations

from typing import Any

from ...core.tile import elementwise
from ..runtime.jit import constexpr_function, jit

_maximum, _minimum = elementwise.maximum, elementwise.minimum


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


@constexpr_function
def _is_power_of_two(i: int) -> bool:
    return i > 0 and i & (i - 1) == 0


def find(name: str) -> Any:
    """What `standard` offers of these names; None: nothing."""
    return globals().get(name) if name.startswith("_") else None
