"""Where the elements of a buffer lie. `T.annotate_layout` takes a layout as a hint: results do not depend on it."""

from __future__ import annotations

from typing import Any

from ...errors import error
from .fragment import (
    Fragment,
    make_fully_replicated_layout_fragment,
    make_gemm_fragment_8x8,
    make_gemm_fragment_8x8_transposed,
)
from .layout import Layout
from .swizzle import (
    SwizzleMode,
    make_full_bank_swizzled_layout,
    make_half_bank_swizzled_layout,
    make_linear_layout,
    make_quarter_bank_swizzled_layout,
    make_swizzled_layout,
    make_wgmma_swizzled_layout,
)

__all__ = [
    "Fragment",
    "Layout",
    "SwizzleMode",
    "make_full_bank_swizzled_layout",
    "make_fully_replicated_layout_fragment",
    "make_gemm_fragment_8x8",
    "make_gemm_fragment_8x8_transposed",
    "make_half_bank_swizzled_layout",
    "make_linear_layout",
    "make_quarter_bank_swizzled_layout",
    "make_swizzled_layout",
    "make_wgmma_swizzled_layout",
]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise error(
        AttributeError,
        f"tilelang.layout.{name} is not supported",
        hint="which thread or instruction holds which element is the compiler's choice; results do not depend on it",
    )
