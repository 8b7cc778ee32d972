"""What upstream keeps for the back end `hip`."""

from . import libdevice  # noqa: F401
