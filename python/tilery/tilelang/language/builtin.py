"""Waits of threads for each other, and hints to the machine."""

from __future__ import annotations

import math
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ...frontend.wording import counted
from ..tracing.barriers import meet_at, numbered
from ..tracing.context import kernel


def _outside_parallel(what: str) -> None:
    """All threads meet or change together: one iteration of a parallel loop cannot."""
    if kernel(what).parallel:
        raise error(
            ValueError,
            f"{what} inside a T.Parallel loop would not be reached by all threads together",
            hint="move it before or after the loop",
        )


def disable_warp_group_reg_alloc() -> None:
    """Leaves the registers of threads as they are; a hint."""
    kernel("T.disable_warp_group_reg_alloc")
    ignore("T.disable_warp_group_reg_alloc", **{"": True})


def no_set_max_nreg() -> None:
    """Leaves the registers of threads as they are; a hint."""
    kernel("T.no_set_max_nreg")
    ignore("T.no_set_max_nreg", **{"": True})


def set_max_nreg(reg_count: int, is_inc: int) -> None:
    """Registers of a thread from here on; a hint."""
    _check_registers(reg_count, is_inc)
    ignore("T.set_max_nreg", reg_count=reg_count, is_inc=is_inc)


def _check_registers(reg_count: Any, is_inc: Any) -> None:
    _outside_parallel("T.set_max_nreg")
    if not isinstance(reg_count, int) or reg_count % 8 or not 24 <= reg_count <= 256:
        raise error(ValueError, f"T.set_max_nreg takes a multiple of 8 from 24 to 256, got {reg_count!r}")
    if is_inc not in (0, 1):
        raise error(ValueError, f"T.set_max_nreg takes 1 (more) or 0 (fewer), got {is_inc!r}")


def inc_max_nreg(reg_count: int) -> None:
    """Registers of a thread from here on; a hint."""
    _check_registers(reg_count, 1)
    ignore("T.inc_max_nreg", reg_count=reg_count)


def dec_max_nreg(reg_count: int) -> None:
    """Registers of a thread from here on; a hint."""
    _check_registers(reg_count, 0)
    ignore("T.dec_max_nreg", reg_count=reg_count)


def sync_threads(barrier_id: int | None = None, arrive_count: int | None = None) -> None:
    """Waits for the threads of the block, or of the branch that it stands in. Statements of a body that asks for no thread take
    effect in order anyway."""
    _outside_parallel("T.sync_threads")
    trace = kernel("T.sync_threads")
    trace.orderings += 1
    if arrive_count is not None and (not isinstance(arrive_count, int) or arrive_count < 1):
        raise error(ValueError, f"T.sync_threads takes a number of threads, got {arrive_count!r}")
    if arrive_count and trace.open.thread is None and arrive_count > -(-trace.acting // 32) * 32:
        if trace.roles and barrier_id is not None and arrive_count <= -(-math.prod(trace.open.threads) // 32) * 32:
            return meet_at(barrier_id, arrive_count, "T.sync_threads")
        raise error(
            ValueError,
            f"a wait of {counted(arrive_count, 'thread')} stands where {trace.acting} come",
            hint="all threads that wait for each other do so at one place; between roles, use T.alloc_barrier",
        )
    trace.native.sync(0, arrive_count or 0)


def named_barrier_arrive(barrier_id: int, arrive_count: int) -> None:
    """The threads of a role arrive at the barrier of this number, at which so many threads arrive in all; others wait there by
    T.sync_threads(barrier_id, arrive_count)."""
    _outside_parallel("T.named_barrier_arrive")
    trace = kernel("T.named_barrier_arrive")
    if not trace.roles:
        raise error(
            NotImplementedError,
            "T.named_barrier_arrive outside of a role of warp groups",
            hint="it stands in T.ws, or in a branch that tells warps apart; between single threads, use T.alloc_barrier",
        )
    numbered(barrier_id, arrive_count, "T.named_barrier_arrive").arrive(trace.acting if trace.open.thread is None else 1)


def sync_warp(mask: int | None = None) -> None:
    """Waits for the threads of the warp. Statements of a body that asks for no thread take effect in order anyway."""
    _outside_parallel("T.sync_warp")
    ignore("T.sync_warp", mask=mask)
    trace = kernel("T.sync_warp")
    trace.orderings += 1
    trace.native.sync(32)


def sync_global() -> None:
    """Waits for the threads of the block and their writes to tensors."""
    _outside_parallel("T.sync_global")
    trace = kernel("T.sync_global")
    trace.orderings += 1
    trace.native.sync()


def sync_grid() -> None:
    """All blocks of the launch meet, and see what each has written to tensors. What follows is a launch of its own, before which
    buffers are saved; a loop around it has a number of turns that is known at compile time."""
    _outside_parallel("T.sync_grid")
    trace = kernel("T.sync_grid")
    if trace.roles:
        raise error(ValueError, "T.sync_grid in a role of warp groups", hint="all threads of a block reach it: move it out")
    trace.meet()


def tvm_storage_sync(scope: str) -> None:
    """Waits for the threads of the block ("shared", "shared.dyn", "global") or of the warp ("warp")."""
    if scope not in ("shared", "shared.dyn", "global", "warp"):
        raise error(ValueError, f"T.tvm_storage_sync has no scope {scope!r}", hint="known: shared, shared.dyn, global, warp")
    (sync_warp if scope == "warp" else sync_threads)()


def fence_proxy_async(*buffers: Any) -> None:
    """Orders writes before asynchronous copies; statements of a tile program take effect in order anyway."""
    kernel("T.fence_proxy_async").orderings += 1
    ignore("T.fence_proxy_async", buffers=buffers or None)


def evaluate(value: Any) -> None:
    """A value that is computed and dropped."""
    ignore("T.evaluate", value=value)


def meta_var(value: Any) -> Any:
    """The value itself, which is given no name of its own."""
    return value
