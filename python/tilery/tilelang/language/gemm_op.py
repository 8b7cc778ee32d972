"""Products of matrices."""

import enum

from tilery import _native

from ..tracing.memory import LocalVar, native_region, tile_op


class GemmWarpPolicy(enum.IntEnum):
    """How the warps of a block share a product; a hint."""

    Square = 0
    FullRow = 1
    FullCol = 2

    def is_square(self):
        return self == GemmWarpPolicy.Square

    def is_full_row(self):
        return self == GemmWarpPolicy.FullRow

    def is_full_col(self):
        return self == GemmWarpPolicy.FullCol


def gemm(
    A,
    B,
    C,
    transpose_A=False,
    transpose_B=False,
    policy=GemmWarpPolicy.Square,
    clear_accum=False,
    k_pack=1,
    wg_wait=0,
    mbar=None,
    annotations=None,
):
    """C += op(A) @ op(B) in C's type; with clear_accum, C = op(A) @ op(B)."""
    trace = tile_op("T.gemm")
    regions = [native_region(trace, side, "T.gemm") for side in (A, B, _whole(C))]
    clear = None if clear_accum is False else clear_accum
    _native.gemm_region(trace.native, *regions, bool(transpose_A), bool(transpose_B), clear, GemmWarpPolicy(policy).name)


def _whole(value):
    return value.memory if isinstance(value, LocalVar) else value
