"""`tilelang.cuda.intrinsics.macro.mma_macro_generator` by the name that programs written before it import."""

from ..cuda.intrinsics.macro.mma_macro_generator import TensorCoreIntrinEmitter, __getattr__

__all__ = ["TensorCoreIntrinEmitter", "__getattr__"]
