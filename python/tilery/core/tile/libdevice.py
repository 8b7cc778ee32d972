"""Elementwise functions under the names of CUDA's libdevice, made from the table of functions."""

from ..functions import ROWS as _ROWS
from ..functions import Namespace as _Namespace
from .device import ROWS as _OWN
from .elementwise import call as _call

# Names of upstream, by the reason why those without a row are not offered.
_REFUSED = {
    "Tilery does not have it yet": "jn yn",
}

__getattr__, __dir__, __all__ = _Namespace(__name__, "libdevice", (*_ROWS, *_OWN), _call, "libdevice", _REFUSED).hooks()
