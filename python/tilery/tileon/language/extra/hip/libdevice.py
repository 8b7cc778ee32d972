"""See ..libdevice."""

from ..libdevice import __all__, __dir__, __getattr__  # noqa: F401
