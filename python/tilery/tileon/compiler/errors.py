"""Names of upstream's error classes."""

from ..errors import TritonError

CompilationError = TritonError
