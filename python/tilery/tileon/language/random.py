"""tl.random."""

from ...core.functions import Namespace as _Namespace
from ...core.tile.types import constexpr

N_ROUNDS_DEFAULT = constexpr(10)
__getattr__, __dir__ = _Namespace(__name__, "tl", ["core.tile.table:RANDOM"], "", "tl.random").hooks()
