"""Helpers of test programs."""

import random
import sys

from ..errors import error


def set_random_seed(seed=42):
    """Seeds Python, NumPy and torch, as far as they are loaded."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def torch_assert_close(actual, expected, rtol=1e-3, atol=1e-3, max_mismatched_ratio=0.001, **_):
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


def _mark(*_, **__):
    """Marks of tests that need a GPU: here the CPU runs them."""
    if len(_) == 1 and callable(_[0]) and not __:
        return _[0]
    return lambda function: function


requires_cuda = requires_package = _mark
requires_cuda_compute_version = requires_cuda_compute_version_ge = requires_cuda_compute_version_le = _mark


def main():
    """Runs pytest on the calling file."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_globals["__file__"]]))
