"""Element types that no machine computes with: memory holds their bits in bytes, values are float32 or int8.

A type of 4 bits has two elements a byte along the last dimension, the first in the low half."""

from __future__ import annotations

from typing import Any

from .dtypes import dtype
from .values import Val, binary, cast, current_builder, register_codes


def _function(step: str, kind: dtype, operand: Any) -> Val:
    return Val(current_builder().function(f"{step}_{kind.replace('_unpacked', 'fn')}", operand))


def decode(kind: dtype, code: Any) -> Any:
    """The value of a code, which is a uint8."""
    if kind == "int4":
        return cast(binary("-", binary("^", cast(code, "int8"), 8), 8), "int8")
    return code if kind == "uint4" else _function("decode", kind, code)


def encode(kind: dtype, value: Any) -> Any:
    """The code nearest to a value (ties to even, too large numbers to the greatest), as a uint8."""
    if kind in ("int4", "uint4"):
        return cast(binary("&", cast(value, "int32"), 15), "uint8")
    return _function("encode", kind, cast(value, "float32"))


def converted(kind: dtype, value: Any) -> Any:
    """A value rounded to a type."""
    return decode(kind, encode(kind, value))


register_codes(converted)
