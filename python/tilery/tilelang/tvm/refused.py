"""Why the rest of upstream's compiler library is not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import refused


def hook(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose other names are refused."""
    return refused.hook(module, refused.PASSES)
