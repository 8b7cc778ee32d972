"""ntl.extra: libdevice, under both of Triton's places."""

import sys as _sys

from . import libdevice  # noqa: F401

cuda = _sys.modules[__name__]
