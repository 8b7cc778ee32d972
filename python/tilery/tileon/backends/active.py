"""The active device."""

from __future__ import annotations

from typing import Any

from . import backends


class DriverConfig:
    """Which kind of device programs mean: the first GPU, or the CPU where there is none, unless they choose."""

    def __init__(self) -> None:
        self._active: Any = None

    @property
    def default(self) -> Any:
        """The driver of the first kind of device that is there."""
        return next(b.driver() for b in backends.values() if b.driver.is_active())

    @property
    def active(self) -> Any:
        if self._active is None:
            self._active = self.default
        return self._active

    def set_active(self, driver: Any) -> None:
        """Programs mean this driver's devices from now on."""
        self._active = driver

    def reset_active(self) -> None:
        """Programs mean the default again."""
        self._active = None


driver = DriverConfig()
