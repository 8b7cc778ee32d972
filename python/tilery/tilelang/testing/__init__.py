"""Helpers of test programs."""

from __future__ import annotations

import importlib.util
import random
import sys
from typing import Any

from ..utils.tensor import torch_assert_close
from .perf_regression import process_func, regression, regression_all

__all__ = [
    "main",
    "process_func",
    "regression",
    "regression_all",
    "requires_cdna",
    "requires_cuda",
    "requires_cuda_compute_version",
    "requires_cuda_compute_version_eq",
    "requires_cuda_compute_version_ge",
    "requires_cuda_compute_version_gt",
    "requires_cuda_compute_version_le",
    "requires_cuda_compute_version_lt",
    "requires_cuda_or_cdna",
    "requires_gfx",
    "requires_llvm",
    "requires_metal",
    "requires_package",
    "requires_rocm",
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


def _no_target(name: str) -> Any:
    def mark(*arguments: Any, **_: Any) -> Any:
        import pytest

        skip = pytest.mark.skip(reason=f"needs {name}, which is no target of Tilery")
        return skip(arguments[0]) if len(arguments) == 1 and callable(arguments[0]) else skip

    return mark


def requires_package(*names: str) -> Any:
    """Mark of a test that needs other packages: skipped where one cannot be imported."""
    import pytest

    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason="needs " + ", ".join(missing))


requires_cuda = requires_llvm = requires_cuda_or_cdna = _mark
requires_cuda_compute_version = requires_cuda_compute_version_eq = _mark
requires_cuda_compute_version_ge = requires_cuda_compute_version_gt = _mark
requires_cuda_compute_version_le = requires_cuda_compute_version_lt = _mark
requires_rocm, requires_metal = _no_target("ROCm"), _no_target("Metal")
requires_cdna, requires_gfx = _no_target("a CDNA GPU"), _no_target("an AMD GPU")


def main() -> None:
    """Runs pytest on the calling file."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_globals["__file__"]]))
