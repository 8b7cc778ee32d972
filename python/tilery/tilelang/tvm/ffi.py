"""Containers of upstream's interface between languages, which are Python's here."""

from __future__ import annotations

from typing import Any

from .refused import hook
from .runtime import load_module

__all__ = ["Array", "Map", "load_module"]
__getattr__ = hook("tvm_ffi")


class Map(dict[Any, Any]):
    """A dict."""


class Array(list[Any]):
    """A list."""
