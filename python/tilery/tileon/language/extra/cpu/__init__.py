"""What upstream keeps for the back end `cpu`."""

from . import libdevice  # noqa: F401
