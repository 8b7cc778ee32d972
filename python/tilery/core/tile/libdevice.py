"""Elementwise functions under the names of CUDA's libdevice, made from the table of functions."""

from ..functions import Namespace as _Namespace

_names = _Namespace(
    __name__,
    "libdevice",
    ["core.functions.table:ROWS", "core.tile.device:ROWS", "core.tile.table:LIBDEVICE"],
    "core.tile.elementwise:call",
    "libdevice",
)
__getattr__, __dir__ = _names.hooks()
