"""Element types with lanes, and libraries of kernels."""

from pathlib import Path
from typing import Any

from ..tracing.dtypes import dtype as DataType

__all__ = ["DataType", "load_module"]


def load_module(path: str | Path) -> Any:
    """The functions of a file that `JITKernel.export_library` wrote, by name."""
    from ..jit.library import load_module as load  # which imports targets from here

    return load(path)
