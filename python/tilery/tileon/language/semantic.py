"""The language's functions as methods of one object, which functions decorated with `builtin` get as `_semantic`."""

from typing import Any

from ...core.tile.extern import Semantic as TritonSemantic

__all__ = ["TritonSemantic"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(TritonSemantic(), name)
