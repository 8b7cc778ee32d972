"""What upstream keeps for the back end `cuda`."""

from . import libdevice  # noqa: F401
