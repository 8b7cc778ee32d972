"""Integers and small floats packed into larger integers: how a kernel unpacks them, and how weights are packed."""

from .decoders import get_lop3_intrin_group, get_mxfp_intrin_group
from .quantization import (
    _tir_packed_int_to_int_convert,
    _tir_packed_to_fp4_to_f16,
    _tir_packed_to_signed_convert,
    _tir_packed_to_unsigned_convert,
    _tir_packed_to_unsigned_convert_with_zeros,
    _tir_u8_to_f4_to_bf16,
    _tir_u8_to_f8_e4m3_to_f16,
)
from .utils import gen_quant4, general_compress, interleave_weight

__all__ = [
    "_tir_packed_int_to_int_convert",
    "_tir_packed_to_fp4_to_f16",
    "_tir_packed_to_signed_convert",
    "_tir_packed_to_unsigned_convert",
    "_tir_packed_to_unsigned_convert_with_zeros",
    "_tir_u8_to_f4_to_bf16",
    "_tir_u8_to_f8_e4m3_to_f16",
    "gen_quant4",
    "general_compress",
    "get_lop3_intrin_group",
    "get_mxfp_intrin_group",
    "interleave_weight",
]


def __getattr__(name: str) -> object:
    from ..refused import TEXT, hook

    return hook("tilelang.quantize", TEXT)(name)
