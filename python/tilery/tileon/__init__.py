"""Tileon, which is also Triton: tile programs over pointers."""

from __future__ import annotations

import importlib
from typing import Any

from ..core.checks import host_number
from ..core.names import no_attribute
from ..core.tile.aggregate import aggregate
from . import backends, compiler, errors, language, runtime, tools
from .compiler import CompilationError, CompiledKernel, compile
from .errors import TritonError
from .language import constexpr
from .runtime import Config, InterpreterError, JITFunction, KernelInterface, OutOfResources, autotune, heuristics, reinterpret
from .runtime.jit import MockTensor, TensorWrapper, constexpr_function, jit, must_use_result

TileonError = TritonError
__version__ = "3.6.0"
_LATER = ("_C", "_internal_testing", "knobs", "profiler", "testing")  # imported when they are asked for

__all__ = [
    "CompilationError",
    "CompiledKernel",
    "Config",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TileonError",
    "TritonError",
    "aggregate",
    "autotune",
    "backends",
    "cdiv",
    "compile",
    "compiler",
    "constexpr",
    "constexpr_function",
    "errors",
    "heuristics",
    "jit",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
]


def __getattr__(name: str) -> Any:
    if name in ("AsyncCompileMode", "FutureKernel"):
        return getattr(importlib.import_module(f"{__name__}.runtime._async_compile"), name)
    if name == "set_allocator":
        return importlib.import_module(f"{__name__}.runtime._allocation").set_allocator
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise no_attribute(__name__, name)


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """x / y rounded up."""
    return -(-host_number(x) // host_number(y))  # numpy's unsigned numbers wrap around


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least n."""
    return 1 << max(host_number(n) - 1, 0).bit_length() if n > 0 else 0
