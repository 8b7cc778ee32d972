"""Tileon, which is also Triton: tile programs over pointers."""
from . import language, testing
from .autotuner import Config, autotune, heuristics
from .jit import JITFunction, KernelInterface, cdiv, constexpr_function, jit, next_power_of_2
from .language import constexpr
from .launch import CompiledKernel
from ..errors import Error as TritonError

TileonError = CompilationError = InterpreterError = TritonError
__version__ = "3.6.0"

__all__ = ["JITFunction", "CompiledKernel", "Config", "KernelInterface", "TileonError", "TritonError", "CompilationError", "autotune", "cdiv", "constexpr",
           "constexpr_function", "heuristics", "jit", "language", "next_power_of_2", "testing"]
