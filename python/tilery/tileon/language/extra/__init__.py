"""Functions of the back ends."""

import importlib
from typing import Any

from . import libdevice  # noqa: F401


def __getattr__(name: str) -> Any:
    """The back ends' modules, which programs name without importing them."""
    if name in ("cpu", "cuda", "hip"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
