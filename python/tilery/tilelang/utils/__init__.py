"""Helpers around kernels."""

from .tensor import TensorSupplyType, torch_assert_close

__all__ = ["TensorSupplyType", "torch_assert_close"]
