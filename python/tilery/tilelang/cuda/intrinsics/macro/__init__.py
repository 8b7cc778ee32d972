"""Emitters of instructions: T.gemm says what is multiplied, the compiler chooses them."""

from ....refused import hook

__getattr__ = hook("tilelang.cuda.intrinsics.macro", "instructions are chosen by the compiler: T.gemm says what is multiplied")
