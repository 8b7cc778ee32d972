"""The active device, as programs ask for it."""

from ..backends.active import DriverConfig, driver

__all__ = ["DriverConfig", "driver"]
