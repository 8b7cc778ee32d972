"""What programs ask of upstream's compiler."""

from typing import Any

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


def __getattr__(name: str) -> Any:
    """What few programs ask for."""
    from . import compiler

    return getattr(compiler, name)
