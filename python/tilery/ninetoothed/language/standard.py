"""ntl.standard: Triton's place of functions that ntl has at its top."""

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.tile.table import ROWS as _ROWS
from ...core.tile.types import *  # noqa: F403

__getattr__, __dir__, __all__ = _Namespace(
    __name__, "tl", (*_ROWS, *_ELEMENTWISE), "core.tile.elementwise", "ntl.standard"
).hooks()
