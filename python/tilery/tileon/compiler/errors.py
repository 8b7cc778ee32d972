"""Errors of compilations: upstream's names."""

from ...errors import StaticAssertion
from ..errors import TritonError

CompilationError = TritonError


class UnsupportedLanguageConstruct(CompilationError):
    """A construct of Python that kernels cannot have."""


CompileTimeAssertionFailure = StaticAssertion

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"]
