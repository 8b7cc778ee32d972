"""How kernels unpack values of few bits."""

from ....quantize.quantization import (
    _tir_f32x2_to_bf16x2_to_u32,
    _tir_packed_int_to_int_convert,
    _tir_packed_to_fp4_to_f16,
    _tir_packed_to_signed_convert,
    _tir_packed_to_unsigned_convert,
    _tir_packed_to_unsigned_convert_with_zeros,
    _tir_u8_to_f4_to_bf16,
    _tir_u8_to_f8_e4m3_to_f16,
    _tir_u32_to_bf16x2_to_f32x2,
    _tir_u32_to_int_to_float,
)

__all__ = [
    "_tir_f32x2_to_bf16x2_to_u32",
    "_tir_packed_int_to_int_convert",
    "_tir_packed_to_fp4_to_f16",
    "_tir_packed_to_signed_convert",
    "_tir_packed_to_unsigned_convert",
    "_tir_packed_to_unsigned_convert_with_zeros",
    "_tir_u32_to_bf16x2_to_f32x2",
    "_tir_u32_to_int_to_float",
    "_tir_u8_to_f4_to_bf16",
    "_tir_u8_to_f8_e4m3_to_f16",
]
