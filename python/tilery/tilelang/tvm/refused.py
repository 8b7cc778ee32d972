"""Why the rest of upstream's compiler library is not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import error


def hook(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose other names are refused."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise error(
            AttributeError,
            f"{module}.{name} is not supported",
            hint="passes and IR objects of upstream's compiler have no counterpart; programs are compiled by another one here",
        )

    return missing
