"""Helpers around kernels."""

from . import language, target
from .tensor import TensorSupplyType, torch_assert_close

__all__ = ["TensorSupplyType", "language", "target", "torch_assert_close"]
