"""Containers of upstream's interface between languages, which are Python's here."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..refused import PASSES
from .refused import hook
from .runtime import load_module

__all__ = ["Array", "Map", "get_global_func", "load_module"]
__getattr__ = hook("tvm_ffi")


def get_global_func(name: str, allow_missing: bool = False) -> None:
    """None: nothing is registered here under upstream's names of functions."""
    if not allow_missing:
        raise error(ValueError, f"Cannot find global function {name}", hint=PASSES)


class Map(dict[Any, Any]):
    """A dict."""


class Array(list[Any]):
    """A list."""
