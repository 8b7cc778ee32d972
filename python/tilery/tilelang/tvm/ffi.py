"""Containers of upstream's interface between languages, which are Python's here."""

from __future__ import annotations

from typing import Any

from .refused import hook

__all__ = ["Array", "Map"]
__getattr__ = hook("tvm_ffi")


class Map(dict[Any, Any]):
    """A dict."""


class Array(list[Any]):
    """A list."""
