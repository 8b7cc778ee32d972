"""Emitters of Hopper's matrix instructions, which the compiler chooses here."""

from ....refused import function, hook

_REASON = "instructions and their descriptors are the compiler's; T.gemm and T.wgmma_gemm say what is multiplied"
compute_gmma_descriptor = function("compute_gmma_descriptor", _REASON)
__getattr__ = hook("tilelang.cuda.intrinsics.macro.wgmma_macro_generator", _REASON)
