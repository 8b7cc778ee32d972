"""TileLang: tile programs with explicit buffers."""

from __future__ import annotations

import importlib
from typing import Any

from ..core.names import no_attribute
from . import language, layout, math, profiler, testing, transform, tvm, utils
from .env import disable_cache, enable_cache, env, is_cache_enabled
from .jit import JITKernel, compile, jit, par_compile
from .language import dtypes
from .layout import Fragment, Layout
from .math import cdiv, next_power_of_2
from .profiler import Profiler, TensorSupplyType
from .transform import PassConfigKey
from .tvm import DataType

__version__ = "0.1.13"

__all__ = [
    "DataType",
    "Fragment",
    "JITKernel",
    "Layout",
    "PassConfigKey",
    "Profiler",
    "TensorSupplyType",
    "analysis",
    "autotune",
    "autotuner",
    "cache",
    "carver",
    "cdiv",
    "compile",
    "contrib",
    "cuda",
    "disable_cache",
    "dtypes",
    "enable_cache",
    "engine",
    "env",
    "ir",
    "is_cache_enabled",
    "jit",
    "language",
    "layout",
    "lower",
    "math",
    "next_power_of_2",
    "par_compile",
    "profiler",
    "register_c_postproc",
    "register_c_postproc_callback",
    "register_cuda_postproc",
    "register_cuda_postproc_callback",
    "register_hip_postproc",
    "register_hip_postproc_callback",
    "set_log_level",
    "testing",
    "tools",
    "transform",
    "tvm",
    "utils",
]


def set_log_level(level: int | str) -> None:
    """A switch of upstream's messages; Tilery's are governed by TILERY_DUMP."""


_PACKAGES = "analysis autotuner backend cache carver contrib cpu cuda engine ir metal quantize rocm tools".split()
_PLACES = {"autotune": "autotuner", "lower": "engine"}
_PLACES |= {name: "engine.callback" for name in __all__ if name.startswith("register_")}


def __getattr__(name: str) -> Any:
    """What few programs ask for is imported then."""
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise no_attribute(__name__, name)
