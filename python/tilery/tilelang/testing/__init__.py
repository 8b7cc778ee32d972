"""Helpers of test programs."""

from __future__ import annotations

import random
import sys
from typing import Any

from ..utils.tensor import torch_assert_close

__all__ = [
    "main",
    "requires_cuda",
    "requires_cuda_compute_version",
    "requires_cuda_compute_version_ge",
    "requires_cuda_compute_version_le",
    "requires_package",
    "set_random_seed",
    "torch_assert_close",
]


def set_random_seed(seed: int = 42) -> None:
    """Seeds Python, NumPy and torch, as far as they are loaded."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _mark(*_: Any, **__: Any) -> Any:
    """Marks of tests that need a GPU: here the CPU runs them."""
    if len(_) == 1 and callable(_[0]) and not __:
        return _[0]
    return lambda function: function


requires_cuda = requires_package = _mark
requires_cuda_compute_version = requires_cuda_compute_version_ge = requires_cuda_compute_version_le = _mark


def main() -> None:
    """Runs pytest on the calling file."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_globals["__file__"]]))
