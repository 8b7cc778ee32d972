"""Counting bits of integers."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype
from ..tracing.values import Expr, binary, cast, read, select, unary


def _unsigned(x: Any, what: str) -> tuple[Any, int]:
    """The bits of an integer as an unsigned one, and how many there are."""
    value = read(x)
    if not isinstance(value, Expr):
        return value & 0xFFFFFFFF, 32
    if "int" not in value.dtype:
        raise error(TypeError, f"T.{what} takes integers, not {value.dtype}")
    bits = dtype(value.dtype).bits
    return cast(value, f"uint{bits}"), bits


def popcount(x: Any) -> Any:
    """How many bits are 1, in the type of x."""
    value, bits = _unsigned(x, "popcount")
    if isinstance(value, int):
        return value.bit_count()
    kind = value.dtype
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < bits:
            mask = ((1 << bits) - 1) // ((1 << shift) + 1)
            low = binary("&", value, cast(mask, kind))
            value = binary("+", low, binary("&", binary(">>", value, cast(shift, kind)), cast(mask, kind)))
    return cast(value, read(x).dtype)


def clz(x: Any) -> Any:
    """How many bits above the highest 1 are 0, in the type of x; all of them for 0."""
    value, bits = _unsigned(x, "clz")
    if isinstance(value, int):
        return bits - value.bit_length()
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < bits:
            value = binary("|", value, binary(">>", value, cast(shift, value.dtype)))
    return bits - popcount(cast(value, read(x).dtype))


def ffs(x: Any) -> Any:
    """The place of the lowest bit that is 1, from 1, as int32; 0 for 0."""
    value, bits = _unsigned(x, "__ffs")
    if isinstance(value, int):
        return (value & -value).bit_length()
    below = binary("&", unary("~", value), binary("-", value, cast(1, value.dtype)))
    return select(binary("==", value, cast(0, value.dtype)), cast(0, "int32"), cast(popcount(below), "int32") + 1)
