"""Roles of warp groups, and what they say to Hopper's matrix unit. Statements take effect in the order that barriers ask for."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import current, kernel, threads
from ..tracing.values import OneThread
from ..tvm.error import InternalError
from .gemm_op import GemmWarpPolicy, check_options, multiply

_GROUP = 128


class ws:
    """`with T.ws(0):` the body is what warp group 0 does: threads 0 to 127; of several groups, what they do together."""

    def __init__(self, *warp_group_idx: int) -> None:
        trace = kernel("T.ws")
        groups = -(-math.prod(trace.open.threads) // _GROUP)
        for index in warp_group_idx:
            if isinstance(index, bool) or not isinstance(index, int):
                raise error(TypeError, f"T.ws takes numbers of warp groups, got {index!r}")
            if not 0 <= index < groups:
                raise error(
                    ValueError,
                    f"T.ws({index}) names a warp group that a block of {math.prod(trace.open.threads)} threads does not have",
                    hint=f"a warp group is {_GROUP} threads; this block has {groups}",
                )
        if not warp_group_idx:
            raise error(ValueError, "T.ws takes the number of a warp group, or several")
        if trace.parallel:
            raise error(ValueError, "T.ws inside a T.Parallel loop", hint="put the loop into the role")
        count = math.prod(trace.open.threads)
        self.ranges = [(index * _GROUP, min((index + 1) * _GROUP, count)) for index in sorted(set(warp_group_idx))]

    def __enter__(self) -> None:
        self.role = kernel("T.ws").role(self.ranges)
        self.role.__enter__()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        if kind is None:
            self.role.__exit__(None, None, None)


WarpSpecialize = ws


def shuffle_elect(thread_extent: int = 0) -> Any:
    """True in one of each `thread_extent` threads; 0: of all threads that are here."""
    trace = kernel("T.shuffle_elect")
    if isinstance(thread_extent, bool) or not isinstance(thread_extent, int) or thread_extent < 0:
        raise error(ValueError, f"T.shuffle_elect takes a number of threads, got {thread_extent!r}")

    def elected() -> Any:
        thread, (first, _) = threads("T.shuffle_elect").open.thread, current().acting_threads[0]
        return thread % thread_extent == first % thread_extent if thread_extent else thread == first

    if trace.open.thread is not None:
        return elected()
    return OneThread(max(trace.acting // thread_extent, 1) if thread_extent else 1, False, elected)


def wgmma_gemm(
    A: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    k_pack: int = 1,
    mbar: Any = None,
    annotations: dict[str, Any] | None = None,
) -> None:
    """T.gemm by Hopper's matrix unit; T.wait_wgmma stands before C is read."""
    trace = kernel("T.wgmma_gemm")
    rows = [n for n in getattr(C, "shape", ()) if isinstance(n, int)][-2:-1]
    if rows and rows[0] % 64 or trace.acting % _GROUP:
        refused = error(
            InternalError,
            "T.wgmma_gemm() requires Hopper WGMMA lowering, but constraints were not satisfied: "
            f"C has {rows[0] if rows else '?'} rows and {trace.acting} threads compute it",
            hint="C has a multiple of 64 rows, and warp groups of 128 threads compute it; or use T.gemm",
        )
        refused.when_compiled = True
        raise refused
    check_options("T.wgmma_gemm", policy, k_pack, 0, mbar, annotations)
    multiply(A, B, C, transpose_A, transpose_B, clear_accum)


def wait_wgmma(num_mma: int = 0) -> None:
    """Products before the last `num_mma` have ended; all have when the next statement begins."""
    _wait("T.wait_wgmma", num_mma)


def _wait(what: str, num_mma: Any) -> None:
    kernel(what)
    if not isinstance(num_mma, int) or num_mma < 0:
        raise error(ValueError, f"{what} takes a number of products, got {num_mma!r}")
    ignore(what, num_mma=num_mma)


def warpgroup_arrive() -> None:
    """A fence before products; statements take effect in order anyway."""
    kernel("T.warpgroup_arrive")


def warpgroup_commit_batch() -> None:
    """Ends a batch of products; statements take effect in order anyway."""
    kernel("T.warpgroup_commit_batch")


def warpgroup_wait(num_mma: int = 0) -> None:
    """Waits for batches of products; statements take effect in order anyway."""
    _wait("T.warpgroup_wait", num_mma)


def warpgroup_fence_operand(*operands: Any, num_regs: int = 0, offset: int = 0) -> None:
    """A fence of registers; statements take effect in order anyway."""
    kernel("T.warpgroup_fence_operand")
    ignore("T.warpgroup_fence_operand", operands=operands, num_regs=num_regs, offset=offset)
