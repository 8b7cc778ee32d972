"""What programs ask of upstream's compiler."""

from .compiler import ASTSource, CompiledKernel, compile, make_backend
from .errors import CompilationError

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "compile", "make_backend"]
