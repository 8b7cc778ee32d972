"""Tensors for tests: made up, and compared."""

from __future__ import annotations

import enum
from types import ModuleType
from typing import Any

from ...errors import error


class TensorSupplyType(enum.Enum):
    """What Profiler fills inputs with."""

    Integer, Uniform, Normal, Randn, Zero, One, Auto = range(1, 8)


def fill(torch: ModuleType, tensor: Any, supply: TensorSupplyType) -> Any:
    kinds = TensorSupplyType
    if supply in (kinds.Zero, kinds.One):
        return tensor.fill_(0 if supply is kinds.Zero else 1)
    if not tensor.dtype.is_floating_point:
        return tensor.random_(0, 2 if tensor.dtype in (torch.bool, torch.uint8) else 3).sub_(
            0 if tensor.dtype in (torch.bool, torch.uint8) else 1
        )
    if supply in (kinds.Normal, kinds.Randn):
        return tensor.normal_()
    return tensor.random_(-2, 3) if supply is kinds.Integer else tensor.uniform_(-1, 1)


def torch_assert_close(
    actual: Any, expected: Any, rtol: float = 1e-3, atol: float = 1e-3, max_mismatched_ratio: float = 0.001, **_: Any
) -> None:
    """Like torch.testing.assert_close, but a share of max_mismatched_ratio elements may differ."""
    if actual.shape != expected.shape:
        raise error(AssertionError, f"shapes differ: {tuple(actual.shape)} and {tuple(expected.shape)}")
    x, y = actual.double(), expected.double()
    wrong = ~((x - y).abs() <= atol + rtol * y.abs()) & ~((x != x) & (y != y)) & (x != y)
    count = int(wrong.sum())
    if count > max_mismatched_ratio * x.numel():
        worst = float((x - y).abs().nan_to_num(float("inf")).max())
        raise error(
            AssertionError, f"{count} of {x.numel()} elements differ (worst by {worst:.3g}; allowed: atol {atol}, rtol {rtol})"
        )
