"""Products of matrices."""

from __future__ import annotations

import enum
from typing import Any

from tilery import _native

from ...core.ignored import ignore
from ...errors import error
from ..tracing.coded_regions import decoded
from ..tracing.dtypes import is_float
from ..tracing.memory import LocalVar, Memory, Region, native_region, region_memory, tile_op


class GemmWarpPolicy(enum.IntEnum):
    """How the warps of a block share a product; a hint."""

    Square = 0
    FullRow = 1
    FullCol = 2

    def __repr__(self) -> str:
        return f"T.GemmWarpPolicy.{self.name}"

    def is_square(self) -> bool:
        return self == GemmWarpPolicy.Square

    def is_full_row(self) -> bool:
        return self == GemmWarpPolicy.FullRow

    def is_full_col(self) -> bool:
        return self == GemmWarpPolicy.FullCol


def gemm(
    A: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    k_pack: int = 1,
    wg_wait: int = 0,
    mbar: Any = None,
    annotations: dict[str, Any] | None = None,
) -> None:
    """C += op(A) @ op(B) in C's type; with clear_accum, C = op(A) @ op(B)."""
    check_options("T.gemm", policy, k_pack, wg_wait, mbar, annotations)
    multiply(A, B, C, transpose_A, transpose_B, clear_accum)


def check_options(
    what: str, policy: Any, k_pack: int = 1, wg_wait: int = 0, mbar: Any = None, annotations: dict[str, Any] | None = None
) -> None:
    """How a product is to be computed, which is decided here."""
    if policy not in list(GemmWarpPolicy):
        known = "known: " + ", ".join(f"T.GemmWarpPolicy.{known.name}" for known in GemmWarpPolicy)
        raise error(ValueError, f"T.gemm has no policy {policy!r}", hint=known)
    if mbar is not None:
        raise error(
            NotImplementedError,
            f"{what}(mbar=...): a barrier at which a product arrives is one of tensor memory, which GPUs of sm_100 have",
            hint="leave it out: what reads the result waits for it",
        )
    chosen = None if policy == GemmWarpPolicy.Square else GemmWarpPolicy(policy)
    ignore(what, policy=chosen, k_pack=k_pack, wg_wait=wg_wait, annotations=annotations or None)


def multiply(A: Any, B: Any, C: Any, transpose_A: bool, transpose_B: bool, clear_accum: Any) -> None:
    """C += op(A) @ op(B)."""
    trace = tile_op("T.gemm")
    _check_types(A, B, C)
    A, B = (decoded(side, None, "T.gemm") if _is_coded(side) else side for side in (A, B))
    regions = [native_region(trace, side, "T.gemm", reads) for side, reads in ((A, True), (B, True), (_whole(C), False))]
    if trace.work:
        (m, n), depth = C.shape[-2:], A.shape[-2 if transpose_A else -1]
        trace.work.flops += 2 * m * n * depth * trace.work.repeated()
    clear = None if clear_accum is False else clear_accum
    _native.gemm_region(trace.native, *regions, bool(transpose_A), bool(transpose_B), clear)


def _check_types(A: Any, B: Any, C: Any) -> None:
    """No machine multiplies numbers of different types, but for those of 8-bit floats, or adds fractions in an integer."""
    a, b, c = (getattr(side, "dtype", None) for side in (A, B, C))
    if a is None or b is None or c is None or _is_coded(A) or _is_coded(B):
        return
    names = [region_memory(side).label() if isinstance(side, (Memory, Region)) else "buffer" for side in (A, B, C)]
    if a != b and not ("float8" in a and "float8" in b):
        raise error(
            AssertionError,
            f"T.gemm: A and B must have the same dtype: `{names[0]}` is {a}, `{names[1]}` is {b}",
            hint="T.copy one of them into a buffer of the other's type",
        )
    if is_float(a) != is_float(c):
        kind = "float32" if is_float(a) else "int32"
        raise error(AssertionError, f"T.gemm of {a} cannot accumulate in `{names[2]}`, which is {c}", hint=f"use {kind}")


def _is_coded(side: Any) -> bool:
    memory = side if isinstance(side, Memory) else getattr(side, "memory", None)
    return memory is not None and memory.coded


def _whole(value: Any) -> Any:
    return value.memory if isinstance(value, LocalVar) else value
