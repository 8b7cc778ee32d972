"""What programs ask of upstream's compiler."""

from .compiler import ASTSource, CompiledKernel, IRSource, compile, make_backend
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "CompiledKernel",
    "IRSource",
    "UnsupportedLanguageConstruct",
    "compile",
    "make_backend",
]
