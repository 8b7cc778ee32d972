"""NineToothed: kernels as serial code over the tiles of arranged tensors."""

import importlib
from typing import Any

from ..core.names import no_attribute
from . import language
from .build import build
from .dtype import bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
from .eval import eval, subs
from .jit import jit
from .make import make
from .symbol import Symbol, block_size
from .tensor import Tensor

__all__ = [
    "Symbol",
    "Tensor",
    "bfloat16",
    "block_size",
    "build",
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


def __getattr__(name: str) -> Any:
    """What few programs ask for is imported then."""
    if name in ("aot", "auto_tuner", "debugging", "generation", "visualization"):
        return importlib.import_module(f"{__name__}.{name}")
    raise no_attribute(__name__, name)
