"""NineToothed: kernels as serial code over the tiles of arranged tensors."""

from tilery._native.arrange import Symbol, Tensor, block_size

from . import language
from .dtype import bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
from .evaluate import eval, subs
from .jit import jit, make

Tensor.eval = eval
Tensor.subs = subs

__all__ = [
    "Symbol",
    "Tensor",
    "bfloat16",
    "block_size",
    "eval",
    "float16",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "jit",
    "language",
    "make",
    "subs",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
