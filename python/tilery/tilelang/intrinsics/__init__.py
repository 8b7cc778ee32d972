"""`tilelang.cuda.intrinsics` by the name that programs written before it import."""

from ..cuda.intrinsics import __getattr__, get_swizzle_layout, make_mma_swizzle_layout

__all__ = ["__getattr__", "get_swizzle_layout", "make_mma_swizzle_layout"]
