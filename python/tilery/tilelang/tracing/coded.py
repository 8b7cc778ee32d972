"""Element types that no machine computes with: memory holds their bits in bytes, values are float32 or int8.

A type of 4 bits has two elements a byte along the last dimension, the first in the low half."""

from __future__ import annotations

from typing import Any

from .dtypes import dtype
from .values import Val, binary, cast, current_builder, register_codes, select, unary

# Fields of floats: bits of exponent and fraction, bias, the greatest number; fnuz: one NaN, where -0 would be.
_FLOATS = {
    "float4_e2m1fn": (2, 1, 1, 6.0, False),
    "float4_e2m1_unpacked": (2, 1, 1, 6.0, False),
    "float8_e4m3fnuz": (4, 3, 8, 240.0, True),
    "float8_e5m2fnuz": (5, 2, 16, 57344.0, True),
}


def decode(kind: dtype, code: Any) -> Any:
    """The value of a code, which is a uint8."""
    if kind == "int4":
        return cast(binary("-", binary("^", cast(code, "int8"), 8), 8), "int8")
    if kind == "uint4":
        return code
    builder, wide = current_builder(), cast(code, "int32")
    if kind == "float8_e8m0fnu":  # a power of two; 0 stands for one below float32's normal numbers
        bits = select(wide == 0, 0x400000, select(wide == 255, 0x7FC00000, wide << 23))
        return Val(builder.bitcast(cast(bits, "int32"), "float32"))
    exponent_bits, fraction_bits, bias, _, fnuz = _FLOATS[kind]
    exponent = (wide >> fraction_bits) & ((1 << exponent_bits) - 1)
    fraction = wide & ((1 << fraction_bits) - 1)
    normal = Val(builder.bitcast(((exponent + (127 - bias)) << 23) | (fraction << (23 - fraction_bits)), "float32"))
    small = cast(fraction, "float32") * 2.0 ** (1 - bias - fraction_bits)
    size = select(exponent == 0, small, normal)
    value = select((wide >> (exponent_bits + fraction_bits)) & 1 == 1, unary("-", size), size)
    return select(wide == 128, cast(float("nan"), "float32"), value) if fnuz else value


def encode(kind: dtype, value: Any) -> Any:
    """The code nearest to a value (ties to even, too large numbers to the greatest), as a uint8."""
    if kind in ("int4", "uint4"):
        return cast(binary("&", cast(value, "int32"), 15), "uint8")
    builder, number = current_builder(), cast(value, "float32")
    raw = Val(builder.bitcast(builder.materialize(number), "int32"))
    magnitude = raw & 0x7FFFFFFF
    if kind == "float8_e8m0fnu":
        power = (magnitude + 0x3FFFFF + ((magnitude >> 23) & 1)) >> 23
        tiny = select(magnitude > 0x600000, 1, 0)  # below 2^-126: 2^-127 or 2^-126
        code = select(magnitude < 0x800000, tiny, select(power > 254, 254, power))
        return cast(select(magnitude > 0x7F800000, 255, code), "uint8")
    exponent_bits, fraction_bits, bias, greatest, fnuz = _FLOATS[kind]
    size = Val(builder.bitcast(magnitude, "float32"))
    size = select(size > greatest, cast(greatest, "float32"), size)
    bits = Val(builder.bitcast(size, "int32"))
    drop = 23 - fraction_bits
    rounded = (bits + ((1 << (drop - 1)) - 1) + ((bits >> drop) & 1)) >> drop
    normal = rounded - ((127 - bias) << fraction_bits)
    small = cast(Val(builder.math("round_even", size * 2.0 ** (bias - 1 + fraction_bits))), "int32")
    code = select(size < 2.0 ** (1 - bias), small, normal)
    sign = select(raw < 0, 1 << (exponent_bits + fraction_bits), 0)
    if fnuz:  # there is no -0
        code = select(magnitude > 0x7F800000, 128, select(code == 0, 0, code | sign))
    else:
        code = code | sign
    return cast(code, "uint8")


def converted(kind: dtype, value: Any) -> Any:
    """A value rounded to a type."""
    return decode(kind, encode(kind, value))


register_codes(converted)
