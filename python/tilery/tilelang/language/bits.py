"""Counting bits of integers."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype
from ..tracing.operations import Operations
from ..tracing.values import Expr, binary, cast, read


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
    value, _ = _unsigned(x, "popcount")
    return value.bit_count() if isinstance(value, int) else cast(Operations.function("popc", value), read(x).dtype)


def clz(x: Any) -> Any:
    """How many bits above the highest 1 are 0, in the type of x; all of them for 0."""
    value, bits = _unsigned(x, "clz")
    if isinstance(value, int):
        return bits - value.bit_length()
    count = Operations.function("clz", value)  # in at least 32 bits
    return cast(binary("-", count, 32 - bits) if bits < 32 else count, read(x).dtype)


def ffs(x: Any) -> Any:
    """The place of the lowest bit that is 1, from 1, as int32; 0 for 0."""
    value, _ = _unsigned(x, "__ffs")
    return (value & -value).bit_length() if isinstance(value, int) else Operations.function("ffs", value)
