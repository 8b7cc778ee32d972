"""TileLang: tile programs with explicit buffers."""

from __future__ import annotations

from . import language, layout, math, profiler, testing, transform, tvm, utils
from .jit import JITKernel, compile, jit, par_compile
from .language import dtypes
from .layout import Layout
from .math import cdiv, next_power_of_2
from .profiler import Profiler, TensorSupplyType
from .transform import PassConfigKey

__version__ = "0.1.13"

__all__ = [
    "JITKernel",
    "Layout",
    "PassConfigKey",
    "Profiler",
    "TensorSupplyType",
    "cdiv",
    "compile",
    "disable_cache",
    "dtypes",
    "enable_cache",
    "jit",
    "language",
    "layout",
    "math",
    "next_power_of_2",
    "par_compile",
    "profiler",
    "set_log_level",
    "testing",
    "transform",
    "tvm",
    "utils",
]


def disable_cache() -> None:
    """A switch of upstream's disk cache; Tilery's is governed by TILERY_CACHE_DIR."""


def enable_cache() -> None:
    """A switch of upstream's disk cache; Tilery's is governed by TILERY_CACHE_DIR."""


def set_log_level(level: int | str) -> None:
    """A switch of upstream's messages; Tilery's are governed by TILERY_DUMP."""
