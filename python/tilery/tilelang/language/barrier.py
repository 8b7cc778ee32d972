"""Barriers: roles of a block wait for each other. A phase completes after its arrivals; a wait names the parity of a phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import error
from ..tracing.barriers import Barriers, barrier_of, parity_of
from ..tracing.context import kernel


def _alloc(what: str, arrive_count: int | Sequence[int], scope: str) -> Barriers:
    trace = kernel(what)
    arrivals = [arrive_count] if isinstance(arrive_count, int) else list(arrive_count)
    if not arrivals:
        raise error(ValueError, f"{what} makes at least one barrier")
    for count in arrivals:
        if isinstance(count, bool) or not isinstance(count, int):
            raise error(TypeError, f"{what} takes numbers of arrivals known at compile time, got {count!r}")
    return Barriers(trace.native.barriers(arrivals), arrivals, scope)


def alloc_barrier(arrive_count: int | Sequence[int]) -> Barriers:
    """A barrier whose phases complete after so many arrivals of threads; of a list, one barrier each."""
    return _alloc("T.alloc_barrier", arrive_count, "shared.barrier")


def alloc_cluster_barrier(arrive_count: int | Sequence[int]) -> Barriers:
    """Barriers that the other blocks of a cluster could reach; a block uses its own."""
    return _alloc("T.alloc_cluster_barrier", arrive_count, "shared.cluster_barrier")


def _arrive(barrier: Any, what: str) -> None:
    trace = kernel(what)
    _outside_parallel(trace, what)
    if _of_cluster(trace, barrier, what):
        return trace.arrived_elsewhere()
    barrier_of(barrier, what).arrive(trace.acting if trace.open.thread is None else 1)


def _of_cluster(trace: Any, barrier: Any, what: str) -> bool:
    """Is it a barrier at which other blocks arrive?"""
    return trace.remote and barrier_of(barrier, what).ring.scope_name == "shared.cluster_barrier"


def _outside_parallel(trace: Any, what: str) -> None:
    if trace.parallel:
        raise error(ValueError, f"{what} inside a T.Parallel loop", hint="move it before or after the loop")


def mbarrier_arrive(mbarrier: Any, cta_id: Any = None) -> None:
    """The threads that are here arrive at a barrier; with cta_id, at that of a block of the cluster."""
    if cta_id is not None:
        barrier = barrier_of(mbarrier, "T.mbarrier_arrive")
        if barrier.ring.scope_name != "shared.cluster_barrier":
            raise error(
                ValueError, "T.mbarrier_arrive at a barrier of another block", hint="T.alloc_cluster_barrier makes such barriers"
            )
        return kernel("T.mbarrier_arrive").arrived_elsewhere()
    _arrive(mbarrier, "T.mbarrier_arrive")


def barrier_arrive(barrier: Any) -> None:
    """The threads that are here arrive at a barrier."""
    _arrive(barrier, "T.barrier_arrive")


def _wait(barrier: Any, parity: Any, what: str) -> None:
    trace = kernel(what)
    _outside_parallel(trace, what)
    if _of_cluster(trace, barrier, what):
        return trace.wait_for_cluster(what, parity_of(parity, what) != 1 if isinstance(parity, int) else True)
    barrier_of(barrier, what).wait(parity_of(parity, what))


def mbarrier_wait_parity(mbarrier: Any, parity: Any) -> None:
    """Waits until the phase of this parity has completed; parity 1 of a new barrier has."""
    _wait(mbarrier, parity, "T.mbarrier_wait_parity")


def barrier_wait(barrier: Any, parity: Any = 0) -> None:
    """Waits until the phase of this parity has completed; parity 1 of a new barrier has."""
    _wait(barrier, parity, "T.barrier_wait")


def _bytes(count: Any, what: str) -> None:
    if isinstance(count, int) and count < 0:
        raise error(ValueError, f"{what} expects a number of bytes, got {count}")


def mbarrier_expect_tx(mbarrier: Any, tx: Any) -> None:
    """The phase also waits for so many bytes of copies; here copies have ended when the next statement begins."""
    kernel("T.mbarrier_expect_tx")
    barrier_of(mbarrier, "T.mbarrier_expect_tx")
    _bytes(tx, "T.mbarrier_expect_tx")


def mbarrier_arrive_expect_tx(mbarrier: Any, tx: Any, cta_id: Any = None) -> None:
    """The threads that are here arrive, and the phase also waits for bytes of copies."""
    _bytes(tx, "T.mbarrier_arrive_expect_tx")
    mbarrier_arrive(mbarrier, cta_id)


def ptx_arrive_barrier(barrier: Any) -> None:
    """The threads that are here arrive at a barrier."""
    _arrive(barrier, "T.ptx_arrive_barrier")


def ptx_wait_barrier(barrier: Any, parity: Any = 0) -> None:
    """Waits until the phase of this parity has completed."""
    _wait(barrier, parity, "T.ptx_wait_barrier")


def cp_async_barrier_noinc(barrier: Any) -> None:
    """The threads that are here arrive once their copies have ended, which they have."""
    _arrive(barrier, "T.cp_async_barrier_noinc")
