"""Layouts of tiles in shared memory. Which thread holds what of an instruction's operands is the compiler's choice."""

from ...refused import hook
from .layout.mma_layout import get_swizzle_layout, make_mma_swizzle_layout

__all__ = ["get_swizzle_layout", "make_mma_swizzle_layout"]
__getattr__ = hook("tilelang.cuda.intrinsics", "instructions are chosen by the compiler: T.gemm says what is multiplied")
