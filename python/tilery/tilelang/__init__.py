"""TileLang: tile programs with explicit buffers."""

from . import language, math, profiler, testing, transform
from .jit import compile, jit, par_compile
from .kernel import JITKernel
from .math import cdiv, next_power_of_2
from .profiler import Profiler, TensorSupplyType
from .transform import PassConfigKey

__version__ = "0.1.13"

__all__ = [
    "JITKernel",
    "PassConfigKey",
    "Profiler",
    "TensorSupplyType",
    "cdiv",
    "compile",
    "disable_cache",
    "enable_cache",
    "jit",
    "language",
    "math",
    "next_power_of_2",
    "par_compile",
    "profiler",
    "set_log_level",
    "testing",
    "transform",
]


def _accept(*args, **kwargs):
    """Switches of upstream's disk cache and logging; Tilery's cache is governed by TILERY_CACHE_DIR."""


disable_cache = enable_cache = set_log_level = _accept
