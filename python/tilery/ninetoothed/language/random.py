"""ntl.random."""

from ...core.functions import Namespace as _Namespace
from ...core.tile.table import RANDOM as _RANDOM

__getattr__, __dir__, __all__ = _Namespace(__name__, "tl", _RANDOM, None, "ntl.random").hooks()
