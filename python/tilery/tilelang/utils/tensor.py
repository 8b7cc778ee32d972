"""Tensors for tests: made up, and compared."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype, is_float
from .device import get_current_device


def torch_for_inputs() -> ModuleType:
    """PyTorch, which makes up inputs where a program gives none."""
    try:
        import torch
    except ImportError:
        hint = "give them: do_bench(input_tensors=[...]), autotune(..., supply_prog=lambda params: [...]); NumPy's will do"
        raise error(ImportError, "inputs are made up by PyTorch, which is not installed", hint=hint) from None
    return torch


class TensorSupplyType(enum.Enum):
    """What Profiler fills inputs with."""

    Integer, Uniform, Normal, Randn, Zero, One, Auto = range(1, 8)


def map_torch_type(intype: Any) -> Any:
    """torch's type of a name of an element type."""
    return dtype(intype).as_torch()


def fill(torch: ModuleType, shape: Sequence[int], kind: dtype, supply: TensorSupplyType, device: Any) -> Any:
    """A tensor of that shape and element type. Auto: floats in [-1, 1), integers -2 to 2, unsigned ones 0 to 2."""
    kinds, shape = TensorSupplyType, tuple(shape)
    target = kind.as_torch()
    if kind.bits < 8:  # packed
        return torch.randint(0, 256, (*shape[:-1], shape[-1] * kind.bits // 8), device=device).to(torch.uint8).view(target)
    if supply in (kinds.Zero, kinds.One):
        return torch.full(shape, int(supply is kinds.One), device=device, dtype=torch.float32).to(target)
    if kind == "bool":
        return torch.randint(0, 2, shape, device=device).bool()
    if not is_float(kind):
        low = 0 if kind.startswith("u") else -2
        return torch.randint(low, 3, shape, device=device).to(target)
    if supply is kinds.Integer or kind.bits == 8:
        return torch.randint(-2, 3, shape, device=device).float().to(target)
    if supply in (kinds.Normal, kinds.Randn):
        return torch.randn(shape, device=device, dtype=torch.float32).to(target)
    return torch.rand(shape, device=device, dtype=torch.float32).mul(2).sub(1).to(target)


def get_tensor_supply(supply_type: TensorSupplyType = TensorSupplyType.Integer) -> Callable[..., Any]:
    """A function that makes a tensor for a parameter: its `dtype` and `shape`."""

    def supply(param: Any, default_shape: Sequence[int] | None = None) -> Any:
        return fill(torch_for_inputs(), default_shape or param.shape, dtype(param.dtype), supply_type, get_current_device())

    return supply


def torch_assert_close(
    actual: Any,
    expected: Any,
    rtol: float = 1e-3,
    atol: float = 1e-3,
    max_mismatched_ratio: float = 0.001,
    verbose: bool = False,
    equal_nan: bool = True,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    base_name: str = "LHS",
    ref_name: str = "Ref",
) -> None:
    """Like torch.testing.assert_close of values, but a share of max_mismatched_ratio elements may differ."""
    if actual.shape != expected.shape:
        raise error(AssertionError, f"shapes differ: {tuple(actual.shape)} and {tuple(expected.shape)}")
    x, y = actual.double(), expected.double()
    wrong = ~((x - y).abs() <= atol + rtol * y.abs()) & (x != y)
    if equal_nan:
        wrong &= ~((x != x) & (y != y))
    count = int(wrong.sum())
    if count > max_mismatched_ratio * x.numel():
        worst = float((x - y).abs().nan_to_num(float("inf")).max())
        raise error(
            AssertionError, f"{count} of {x.numel()} elements differ (worst by {worst:.3g}; allowed: atol {atol}, rtol {rtol})"
        )
