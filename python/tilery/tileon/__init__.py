"""Tileon, which is also Triton: tile programs over pointers."""
from . import language, testing
from .jit import JITFunction, KernelInterface, cdiv, constexpr_function, jit, next_power_of_2
from .language import constexpr
from .launch import MockTensor, TensorWrapper, reinterpret
from ..errors import Error as TritonError

TileonError = CompilationError = InterpreterError = TritonError
TileonTensor = TensorWrapper
__version__ = "3.6.0"

__all__ = ["JITFunction", "KernelInterface", "MockTensor", "TensorWrapper", "TileonError", "TritonError", "CompilationError", "cdiv", "constexpr",
           "constexpr_function", "jit", "language", "next_power_of_2", "reinterpret", "testing"]
