"""tl.random."""

from ...core.functions import Namespace as _Namespace
from ...core.tile.types import constexpr

N_ROUNDS_DEFAULT = constexpr(10)
PHILOX_KEY_A = constexpr(0x9E3779B9)
PHILOX_KEY_B = constexpr(0xBB67AE85)
PHILOX_ROUND_A = constexpr(0xD2511F53)
PHILOX_ROUND_B = constexpr(0xCD9E8D57)
__getattr__, __dir__ = _Namespace(__name__, "tl", ["core.tile.table:RANDOM"], "", "tl.random").hooks()
