"""ntl.random."""

from ...core.functions import Namespace as _Namespace

__getattr__, __dir__ = _Namespace(__name__, "tl", ["core.tile.table:RANDOM"], "", "ntl.random").hooks()
