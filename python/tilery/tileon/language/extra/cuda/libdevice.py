"""See ..libdevice."""

from ..libdevice import *  # noqa: F403
