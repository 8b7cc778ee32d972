"""What test programs use of it: comparisons, marks, the entry of a file of tests."""

from __future__ import annotations

import sys
from typing import Any

from ..testing import requires_cuda, requires_llvm, requires_metal, requires_package, requires_rocm
from .refused import hook

__all__ = [
    "assert_allclose",
    "main",
    "requires_cuda",
    "requires_gpu",
    "requires_llvm",
    "requires_metal",
    "requires_package",
    "requires_rocm",
]

requires_gpu = requires_cuda
__getattr__ = hook("tvm.testing")


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """numpy.testing.assert_allclose, of arrays whose shapes are the same."""
    import numpy as np

    actual, desired = np.asanyarray(actual), np.asanyarray(desired)
    np.testing.assert_allclose(actual.shape, desired.shape)
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def main() -> None:
    """Runs pytest on the calling file."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_globals["__file__"], *sys.argv[1:]]))
