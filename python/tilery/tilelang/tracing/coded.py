"""Element types that no machine computes with: memory holds their bits in bytes, values are float32 or int8.

A type of 4 bits has two elements a byte along the last dimension, the first in the low half."""

from __future__ import annotations

from typing import Any

from .dtypes import dtype
from .values import Val, cast, current_builder, register_codes


def coding(kind: dtype) -> str:
    """The builder's name of a type."""
    return kind.replace("_unpacked", "fn")


def decode(kind: dtype, code: Any) -> Val:
    """The value of a code, which is a uint8."""
    return Val(current_builder().function(f"decode_{coding(kind)}", code))


def encode(kind: dtype, value: Any) -> Val:
    """The code nearest to a value (ties to even, too large numbers to the greatest), as a uint8."""
    builder = current_builder()
    value = cast(value, "float32") if "float" in kind else value
    return Val(builder.function(f"encode_{coding(kind)}", builder.materialize(value)))


def converted(kind: dtype, value: Any) -> Any:
    """A value rounded to a type."""
    return decode(kind, encode(kind, value))


register_codes(converted)
