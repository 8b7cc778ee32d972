"""Functions of the back ends."""

from . import libdevice  # noqa: F401
