"""How a kernel unpacks a value of few bits from a larger integer: f(bits, packed, position, dtype)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import language as T
from ..tracing.values import binary, cast

Unpack = Callable[[int, Any, Any, Any], Any]


def _field(nbit: int, value: Any, position: Any) -> Any:
    return binary("&", binary(">>", value, position * nbit), (1 << nbit) - 1)


def _tir_packed_to_unsigned_convert(storage_type: str = "uint", storage_nbit: int = 8) -> Unpack:
    """Fields that are unsigned numbers."""
    return lambda nbit, value, position, dtype: cast(_field(nbit, value, position), dtype)


def _tir_packed_to_signed_convert(storage_type: str = "uint", storage_nbit: int = 8) -> Unpack:
    """Fields that hold a signed number plus half their range."""
    return lambda nbit, value, position, dtype: cast(_field(nbit, value, position), dtype) - cast(1 << (nbit - 1), dtype)


def _tir_packed_to_unsigned_convert_with_zeros(storage_type: str = "uint", storage_nbit: int = 8) -> Callable[..., Any]:
    """Unsigned fields less a zero point."""
    return lambda nbit, value, position, zero, dtype: cast(_field(nbit, value, position) - zero, dtype)


def _tir_packed_int_to_int_convert(storage_type: str = "uint", storage_nbit: int = 8) -> Unpack:
    """Fields in two's complement."""

    def unpack(nbit: int, value: Any, position: Any, dtype: Any) -> Any:
        raised = binary("<<", cast(_field(nbit, value, position), "int32"), 32 - nbit)
        return cast(binary(">>", raised, 32 - nbit), dtype)

    return unpack


def _fp4(field: Any, exponent_bits: int, mantissa_shift: int, bias: int, sign_shift: int, bits: str) -> Any:
    """e2m1 as the bits of a larger float: sign, exponent and one bit of fraction are moved; 0.5 is the one subnormal."""
    field = cast(field, bits)
    sign, exponent, fraction = binary(">>", field, 3), binary("&", binary(">>", field, 1), 3), binary("&", field, 1)
    normal = binary("|", binary("<<", exponent + (bias - 1), mantissa_shift), binary("<<", fraction, mantissa_shift - 1))
    subnormal = binary("*", fraction, (bias - 1) << mantissa_shift)
    magnitude = T.Select(exponent == 0, subnormal, normal)
    return binary("|", binary("<<", sign, sign_shift), cast(magnitude, bits))


def _tir_packed_to_fp4_to_f16(storage_type: str = "uint", storage_nbit: int = 8) -> Unpack:
    """Fields that are floats e2m1, as float16."""

    def unpack(nbit: int, value: Any, position: Any, dtype: Any) -> Any:
        return cast(T.reinterpret(_fp4(_field(nbit, value, position), 5, 10, 15, 15, "uint16"), "float16"), dtype)

    return unpack


def _tir_u8_to_f4_to_bf16(nbit: int, val: Any, pos: Any, scale: Any, dtype: Any) -> Any:
    """The float e2m1 at a position of a byte, as bfloat16, times 2 to the power of `scale`."""
    number = T.reinterpret(_fp4(_field(nbit, val, pos), 8, 7, 127, 15, "uint16"), "bfloat16")
    return cast(cast(number, "float32") * T.exp2(cast(scale, "float32")), dtype)


def _tir_u8_to_f8_e4m3_to_f16(nbit: int, val: Any, dtype: Any) -> Any:
    """The float e4m3 that a byte holds."""
    return cast(T.reinterpret(cast(val, "uint8"), "float8_e4m3fn"), dtype)


def _tir_u32_to_int_to_float(nbit: int, val: Any, pos: Any, dtype: Any) -> Any:
    """The field at a position of a uint32, in two's complement, as a float."""
    return _tir_packed_int_to_int_convert("uint", 32)(nbit, val, pos, dtype)


def _tir_f32x2_to_bf16x2_to_u32(v0: Any, v1: Any, round_to_even: bool = True) -> Any:
    """Two floats as bfloat16 (rounded to nearest even, or towards zero), the first in the lower half."""
    halves = [cast(v, "bfloat16", "" if round_to_even else "rz") for v in (v0, v1)]
    low, high = (cast(T.reinterpret(half, "uint16"), "uint32") for half in halves)
    return binary("|", low, binary("<<", high, 16))


def _tir_u32_to_bf16x2_to_f32x2(x: Any) -> tuple[Any, Any]:
    """The two bfloat16 of a uint32 as float32, the lower half first."""
    low, high = binary("<<", x, 16), binary("<<", binary(">>", x, 16), 16)
    return T.reinterpret(cast(low, "uint32"), "float32"), T.reinterpret(cast(high, "uint32"), "float32")
