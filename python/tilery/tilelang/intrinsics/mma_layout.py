"""`tilelang.cuda.intrinsics.layout.mma_layout` by the name that programs written before it import."""

from ..cuda.intrinsics.layout.mma_layout import get_swizzle_layout, make_mma_swizzle_layout

__all__ = ["get_swizzle_layout", "make_mma_swizzle_layout"]
