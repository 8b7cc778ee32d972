"""What programs ask of upstream's compiler."""

from .compiler import CompiledKernel
from .errors import CompilationError

__all__ = ["CompilationError", "CompiledKernel"]
