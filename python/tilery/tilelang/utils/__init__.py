"""Helpers around kernels."""

from . import language, target
from .tensor import TensorSupplyType, map_torch_type, torch_assert_close

__all__ = ["TensorSupplyType", "language", "map_torch_type", "target", "torch_assert_close"]


def __getattr__(name: str) -> object:
    """What older programs look for here."""
    if name in ("determine_fp8_type", "determine_torch_fp8_type"):
        from ..language import fp8

        return getattr(fp8, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
