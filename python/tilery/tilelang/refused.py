"""Names of upstream that exist, and say why they do nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import error


def hook(module: str, reason: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module all of whose other names are refused for one reason."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise error(AttributeError, f"{module}.{name} is not supported", hint=reason)

    return missing


def function(name: str, reason: str) -> Callable[..., Any]:
    """A function that can be imported and refuses to be called."""

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise error(NotImplementedError, f"{name} is not supported", hint=reason)

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


PASSES = "passes and IR objects of upstream's compiler have no counterpart; programs are compiled by another one here"
TEXT = "no text of another language is made on the way to machine code; `.asm` of a kernel holds what is made"
