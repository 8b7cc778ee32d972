"""The active device."""

from __future__ import annotations

from typing import Any

from ...errors import error
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

    def set_active_to_cpu(self) -> None:
        """Programs mean the CPU from now on."""
        self._active = backends["cpu"].driver()

    def get_active_gpus(self) -> list[Any]:
        """The kinds of GPUs that are there, as drivers' classes."""
        return [b.driver for name, b in backends.items() if name != "cpu" and b.driver.is_active()]

    def set_active_to_gpu(self) -> None:
        """Programs mean the GPU from now on.

        :raises tilery.RuntimeError: there is none."""
        found = self.get_active_gpus()
        if not found:
            raise error(RuntimeError, "there is no GPU here, or TILERY_DEVICE=cpu")
        self._active = found[0]()

    def reset_active(self) -> None:
        """Programs mean the default again."""
        self._active = None


driver = DriverConfig()
