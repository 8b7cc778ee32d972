"""The inputs with which kernels are timed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_local = threading.local()


@contextlib.contextmanager
def set_autotune_inputs(*args: Any) -> Iterator[None]:
    """`with set_autotune_inputs(a, b):` (or one list of them): kernels tuned inside are timed with these."""
    inputs = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    outer = get_autotune_inputs()
    _local.inputs = inputs
    try:
        yield
    finally:
        _local.inputs = outer


def get_autotune_inputs() -> list[Any] | None:
    """The inputs of the innermost `with set_autotune_inputs(...)`."""
    return getattr(_local, "inputs", None)
