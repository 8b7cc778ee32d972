"""The table of functions: rows, and what is made of them. The rows themselves are read when a function is first asked for."""

from .namespace import Namespace
from .nan import PropagateNan

__all__ = ["Namespace", "PropagateNan"]
