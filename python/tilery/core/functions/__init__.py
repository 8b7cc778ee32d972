"""The table of functions: rows, and what is made of them."""

from . import bessel, device, elementwise, special
from .elementwise import PropagateNan
from .namespace import Namespace

ROWS = (*elementwise.ROWS, *device.ROWS, *special.ROWS, *bessel.ROWS)

__all__ = ["ROWS", "Namespace", "PropagateNan"]
