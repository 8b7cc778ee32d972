"""Tileon, which is also Triton: tile programs over pointers."""

from ..errors import Error as TritonError
from . import language, runtime, testing
from .autotuner import Config, autotune, heuristics
from .jit import JITFunction, KernelInterface, cdiv, constexpr_function, jit, next_power_of_2, reinterpret
from .language import constexpr
from .launch import CompiledKernel
from .runtime.errors import OutOfResources

TileonError = CompilationError = InterpreterError = TritonError
__version__ = "3.6.0"

__all__ = [
    "CompilationError",
    "CompiledKernel",
    "Config",
    "JITFunction",
    "KernelInterface",
    "OutOfResources",
    "TileonError",
    "TritonError",
    "autotune",
    "cdiv",
    "constexpr",
    "constexpr_function",
    "heuristics",
    "jit",
    "language",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "testing",
]
