"""Elementwise functions under the names of CUDA's libdevice, made from the table of functions."""

from ..functions import Namespace as _Namespace

# Names of upstream, by the reason why those without a row are not offered.
_REFUSED = {
    "Tilery does not have it yet": "jn yn",
}

_names = _Namespace(
    __name__,
    "libdevice",
    ["core.functions.table:ROWS", "core.tile.device:ROWS"],
    "core.tile.elementwise:call",
    "libdevice",
    f"{__name__.removeprefix('tilery.')}:_REFUSED",
)
__getattr__, __dir__ = _names.hooks()
