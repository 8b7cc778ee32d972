"""The language's functions as methods of one object, which functions decorated with `builtin` get as `_semantic`."""

from __future__ import annotations

import importlib
from typing import Any

from ...core.tile.value import to_tensor


class TritonSemantic:
    """semantic.add(x, y) is tl.add(x, y); semantic.to_tensor(x) makes a value of a number."""

    tensor: Any = None

    @staticmethod
    def to_tensor(x: Any, check_type: bool = True) -> Any:
        return to_tensor(x)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(__package__), name)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(TritonSemantic(), name)
