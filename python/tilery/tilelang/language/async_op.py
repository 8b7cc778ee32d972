"""Copies that upstream starts and waits for by hand. Here each has ended when the next statement begins."""

from __future__ import annotations

from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.barriers import barrier_of
from ..tracing.context import kernel
from ..tracing.memory import Memory
from .copy_op import copy


def _is_global(side: Any) -> bool:
    memory = side if isinstance(side, Memory) else getattr(side, "memory", None)
    return memory is not None and memory.is_global


def tma_copy(
    src: Any,
    dst: Any,
    *,
    barrier: Any = None,
    cluster_mask: int | None = None,
    leader_scope_threads: int | None = None,
    eviction_policy: str | None = None,
    annotations: dict[str, Any] | None = None,
) -> None:
    """T.copy between a tensor and shared memory; of a load the barrier is told the bytes, and the threads arrive themselves."""
    kernel("T.tma_copy")
    if _is_global(src) == _is_global(dst):
        raise error(ValueError, "T.tma_copy copies between a tensor and a shared buffer", hint="use T.copy")
    if _is_global(src):
        if barrier is None:
            raise error(ValueError, "T.tma_copy of a tensor needs a barrier", hint="T.tma_copy(src, dst, barrier=bars[i])")
        barrier_of(barrier, "T.tma_copy")
    ignore("T.tma_copy", leader_scope_threads=leader_scope_threads, annotations=annotations)
    if cluster_mask is not None:
        from .cluster import copy_cluster

        return copy_cluster(src, dst, cluster_mask=cluster_mask, eviction_policy=eviction_policy)
    copy(src, dst, eviction_policy=eviction_policy)


def _count(what: str, n: Any) -> None:
    kernel(what)
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise error(ValueError, f"{what} takes a number of groups that may still be under way, got {n!r}")


def tma_store_arrive() -> None:
    """Ends a group of stores, which have ended."""
    kernel("T.tma_store_arrive")


def tma_store_wait(count: int = 0, read: bool = True) -> None:
    """Waits for groups of stores, which have ended."""
    _count("T.tma_store_wait", count)
    ignore("T.tma_store_wait", count=count, read=read)


def ptx_commit_group() -> None:
    """Ends a group of T.async_copy, which have ended."""
    kernel("T.ptx_commit_group")


def ptx_wait_group(num: int = 0) -> None:
    """Waits for groups of T.async_copy, which have ended."""
    _count("T.ptx_wait_group", num)
    ignore("T.ptx_wait_group", num=num)


def pdl_trigger() -> None:
    """Lets the next launch begin beside this one, when all blocks have begun, if its kernel has a T.pdl_sync (on GPUs from Hopper
    on)."""
    kernel("T.pdl_trigger").native.kernel_hints({"launch_dependents": True})


def pdl_sync() -> None:
    """Waits for the launch before, beside which this one may begin. Its blocks wait where they begin."""
    kernel("T.pdl_sync").native.kernel_hints({"launch_pdl": True})
