"""The table of functions: rows, and what is made of them."""

from .elementwise import ROWS, PropagateNan
from .namespace import Namespace

__all__ = ["ROWS", "Namespace", "PropagateNan"]
