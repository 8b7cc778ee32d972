"""ntl.core: Triton's place of functions that ntl has at its top."""

from ...core.functions import Namespace as _Namespace
from ...core.tile.types import *  # noqa: F403

__getattr__, __dir__ = _Namespace(
    __name__, "tl", ["core.tile.table:ROWS", "core.functions.table:ROWS"], "core.tile.elementwise", "ntl.core"
).hooks()
