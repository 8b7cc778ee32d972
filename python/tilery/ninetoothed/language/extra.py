"""ntl.extra: libdevice, under both of Triton's places."""

from types import SimpleNamespace as _SimpleNamespace

from . import libdevice

cuda = _SimpleNamespace(libdevice=libdevice)
