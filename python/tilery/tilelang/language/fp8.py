"""The floats of 8 bits that a target has."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype

_KINDS = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu"}


def determine_fp8_type(kind: str = "e4m3") -> dtype:
    """T's type for "e4m3" or "e5m2": those of NVIDIA, on every target."""
    if kind not in _KINDS:
        raise error(ValueError, f"there is no float of 8 bits {kind!r}", hint="known: " + ", ".join(_KINDS))
    return dtype(_KINDS[kind])


def determine_torch_fp8_type(kind: str = "e4m3") -> Any:
    """torch's type for "e4m3" or "e5m2"."""
    return determine_fp8_type(kind).as_torch()
