"""Roundings that no instruction makes: up, down, and by random bits. A value is counted in steps of its target type, in
float64, where that is exact."""

from __future__ import annotations

from typing import Any

from ...errors import error
from .dtypes import dtype
from .values import Val, binary, cast, current_builder, register_rounding, select

# Bits of the fraction, exponent of the least normal number, greatest number.
_FORMATS = {
    "float16": (10, -14, 65504.0),
    "bfloat16": (7, -126, 3.3895313892515355e38),
    "float32": (23, -126, 3.4028234663852886e38),
    "float8_e4m3fn": (3, -6, 448.0),
    "float8_e5m2": (2, -14, 57344.0),
    "float8_e4m3fnuz": (3, -7, 240.0),
    "float8_e5m2fnuz": (2, -15, 57344.0),
    "float4_e2m1fn": (1, 0, 6.0),
    "float4_e2m1_unpacked": (1, 0, 6.0),
}


def rounded(value: Any, to: dtype, mode: str, sat: bool, rbits: Any) -> Any:
    """The value, as float64, at the number of type `to` that a rounding chooses: "rp" the next greater, "rm" the next
    smaller, "rs" the one or the other side of it, so that 32 random bits that are small enough raise the magnitude."""
    if to not in _FORMATS:
        raise error(ValueError, f"T.cast rounds by {mode!r} to floats, not to {to}", hint="use '' or 'rz'")
    if mode == "rs" and not sat and to in ("float16", "bfloat16"):
        raise error(ValueError, f"T.cast(round='rs') to {to}: sat=false is not supported")
    fraction, least, greatest = _FORMATS[to]
    builder = current_builder()
    wide = cast(value, "float64")
    bits = Val(builder.bitcast(builder.materialize(wide), "int64"))
    exponent = binary("-", binary("&", binary(">>", bits, 52), 0x7FF), 1023)
    exponent = select(binary("<", exponent, least), cast(least, "int64"), exponent)
    step = Val(builder.bitcast(binary("<<", binary("+", exponent, 1023 - fraction), 52).value, "float64"))
    count = binary("/", wide, step)
    if mode == "rs":
        share = binary("*", cast(cast(rbits, "uint32"), "float64"), cast(2.0**-32, "float64"))
        size = Val(builder.math("floor", binary("+", Val(builder.unary("abs", count)), share)))
        count = select(binary("<", wide, 0.0), binary("-", cast(0.0, "float64"), size), size)
    else:
        count = Val(builder.math("ceil" if mode == "rp" else "floor", count))
    result = binary("*", count, step)
    result = _kept_finite(result, cast(greatest, "float64"), mode)
    finite = binary("<", Val(builder.unary("abs", wide)), cast(float("inf"), "float64"))
    return select(finite, result, wide)


def _kept_finite(result: Any, greatest: Any, mode: str) -> Any:
    """What is rounded towards the finite numbers stays one."""
    least = binary("-", cast(0.0, "float64"), greatest)
    if mode in ("rm", "rs"):
        result = select(binary(">", result, greatest), greatest, result)
    if mode in ("rp", "rs"):
        result = select(binary("<", result, least), least, result)
    return result


register_rounding(rounded)
