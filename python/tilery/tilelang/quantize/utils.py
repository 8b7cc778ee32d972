"""Weights of few bits, packed and put in the order in which kernels unpack them (numpy arrays and torch tensors)."""

from __future__ import annotations

from typing import Any

from ...errors import error
from .decoders import place, unit


def gen_quant4(k: int, n: int, groupsize: int = -1) -> tuple[Any, Any, Any, Any]:
    """(weights, their values after rounding to 4 bits, scales, numbers 0 to 15) of a random k x n matrix."""
    import torch

    group = k if groupsize == -1 else groupsize
    weight = torch.randn((k, n), dtype=torch.float16)
    grouped = weight.reshape(-1, group, n)
    scales = (grouped.abs().amax(1).float() * 2 / 15).clamp(min=1e-8)
    numbers = (torch.round(grouped.float() / scales[:, None]).int() + 8).clamp(0, 15)
    values = ((numbers - 8) * scales[:, None]).half()
    return weight, values.reshape(k, n), scales.half(), numbers.reshape(k, n)


def general_compress(lowprecision_weight: Any, source_bits: int = 4, storage_dtype: Any = None) -> Any:
    """Numbers of `source_bits` bits packed along the last dimension, the first in the lowest bits."""
    import numpy

    kind = numpy.dtype(storage_dtype or numpy.int8)
    count = kind.itemsize * 8 // source_bits
    weight = numpy.asarray(lowprecision_weight)
    if weight.shape[-1] % count:
        raise error(ValueError, f"{weight.shape[-1]} numbers of {source_bits} bits fill no whole number of {kind} elements")
    fields = weight.astype(numpy.uint64).reshape(*weight.shape[:-1], -1, count) & ((1 << source_bits) - 1)
    shifts = numpy.arange(count, dtype=numpy.uint64) * numpy.uint64(source_bits)
    packed = numpy.bitwise_or.reduce(fields << shifts, axis=-1)
    return packed.astype(f"uint{kind.itemsize * 8}").view(kind)


def interleave_weight(qweight: Any, nbits: int = 4, target_dtype: str = "float16") -> Any:
    """32-bit words whose fields stand in the order in which they are unpacked two (float16) or four (int8) at a time."""
    import numpy

    if target_dtype not in ("float16", "int8"):
        raise error(ValueError, f"interleave_weight has no order for {target_dtype}", hint="known: float16, int8")
    weight = numpy.ascontiguousarray(qweight)
    words, group = weight.view(numpy.uint32), unit(nbits, target_dtype)
    result = numpy.zeros_like(words)
    for index in range(32 // nbits):
        begin = index // group * group * nbits + place(nbits, target_dtype, index % group)
        field = (words >> numpy.uint32(index * nbits)) & numpy.uint32((1 << nbits) - 1)
        result |= field << numpy.uint32(begin)
    return result.view(weight.dtype)
