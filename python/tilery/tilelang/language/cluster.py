"""Clusters: neighbouring blocks of a grid, which send each other what they compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.barriers import barrier_of
from ..tracing.clusters import rank_places
from ..tracing.context import kernel
from ..tracing.memory import Element, Memory, Region
from ..tracing.values import Val, binary, select
from .copy_op import copy
from .kernel import Kernel


def ClusterKernel(
    *blocks: Any, threads: int | Sequence[int] = 128, cluster_dims: Any = None, prelude: str | None = None
) -> Kernel:
    """T.Kernel whose blocks form clusters of cluster_dims."""
    if cluster_dims is None:
        raise error(ValueError, "T.ClusterKernel needs cluster_dims", hint="T.ClusterKernel(gx, gy, cluster_dims=(2, 1, 1))")
    dims = _dims(cluster_dims)
    for extent, size in zip(blocks, dims):
        if isinstance(extent, int) and extent % size:
            raise error(ValueError, f"a grid extent of {extent} is no whole number of clusters of {size} blocks")
    return Kernel(*blocks, threads=threads, prelude=prelude, cluster_dims=dims)


def _dims(given: Any) -> list[int]:
    dims = [given] if isinstance(given, int) else list(given)
    if not 1 <= len(dims) <= 3 or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in dims):
        raise error(ValueError, f"cluster_dims are one to three positive integers, got {given!r}")
    return dims + [1] * (3 - len(dims))


def _cluster(what: str) -> list[int]:
    return _dims(kernel(what).open.cluster_dims or 1)


def _places(trace: Any, dims: Sequence[int]) -> list[Any]:
    """Where this block stands in its cluster."""
    return [binary("%", Val(trace.native.program_id(axis)), size) if size > 1 else 0 for axis, size in enumerate(dims)]


def block_rank_in_cluster() -> Any:
    """The number of this block in its cluster, x fastest."""
    dims = _cluster("T.block_rank_in_cluster")
    rank: Any = 0
    for place, size in reversed(list(zip(_places(kernel("T.block_rank_in_cluster"), dims), dims))):
        rank = rank * size + place
    return rank


def _meet(what: str) -> None:
    trace = kernel(what)
    if trace.parallel or trace.roles:
        raise error(ValueError, f"{what} must be reached by all threads of a block", hint="move it out of the loop or role")
    if trace.remote and "arrive" not in what:
        trace.wait_for_cluster(what, False)


def cluster_arrive() -> None:
    """Says that this block is here."""
    _meet("T.cluster_arrive")


def cluster_arrive_relaxed() -> None:
    """T.cluster_arrive that orders no memory by itself."""
    _meet("T.cluster_arrive_relaxed")


def cluster_wait() -> None:
    """Waits for the blocks of the cluster."""
    _meet("T.cluster_wait")


def cluster_sync() -> None:
    """The blocks of the cluster meet."""
    _meet("T.cluster_sync")


def copy_cluster(
    src: Any,
    dst: Any,
    *,
    dst_block: Any = None,
    cluster_mask: int | None = None,
    remote_barrier: Any = None,
    eviction_policy: str | None = None,
    coalesced_width: int | None = None,
    loop_layout: Any = None,
) -> None:
    """T.copy in which the blocks that cluster_mask names get what the first of them reads; or a shared buffer goes to that of the
    block dst_block, whose remote_barrier is told."""
    trace = kernel("T.copy_cluster")
    dims = _cluster("T.copy_cluster")
    ignore("T.copy_cluster", coalesced_width=coalesced_width, loop_layout=loop_layout)
    if dst_block is not None:
        if remote_barrier is not None:
            barrier_of(remote_barrier, "T.copy_cluster")
        ignore("T.copy_cluster", eviction_policy=eviction_policy)
        return _send(trace, src, dst, dst_block, dims)
    if remote_barrier is not None:
        raise error(ValueError, "T.copy_cluster has a remote_barrier but no dst_block")
    if cluster_mask is None:
        raise error(ValueError, "T.copy_cluster needs cluster_mask or dst_block")
    if not isinstance(cluster_mask, int) or not 0 < cluster_mask < 1 << math.prod(dims):
        raise error(ValueError, f"cluster_mask {cluster_mask!r} does not name blocks of a cluster of {math.prod(dims)}")
    copy(_seen_by_first(trace, src, dims, cluster_mask), dst, eviction_policy=eviction_policy)


def _send(trace: Any, src: Any, dst: Any, rank: Any, dims: list[int]) -> None:
    """Copies a shared buffer, or a region of it, to that of another block."""
    if isinstance(rank, int) and not 0 <= rank < math.prod(dims):
        raise error(ValueError, f"dst_block {rank} is no block of a cluster of {math.prod(dims)}")
    if isinstance(dst, Memory):
        memory, starts, extents = dst, [0] * dst.ndim, list(dst.shape)
    elif isinstance(dst, Region):
        memory, starts, extents = dst.memory, list(dst.starts), list(dst.extents)
    elif isinstance(dst, Element) and isinstance(src, (Memory, Region)):
        sizes = list(src.shape)[-dst.memory.ndim :]
        memory, starts, extents = dst.memory, list(dst.indices), [1] * (dst.memory.ndim - len(sizes)) + sizes
    else:
        raise error(TypeError, f"T.copy_cluster copies buffers and regions, got {dst!r}")
    places = zip(trace.block(), _places(trace, dims), rank_places(rank, dims), dims)
    target = [own - here + there if size > 1 else own for own, here, there, size in places]
    trace.send(src, Region(memory, starts, extents), target, copy)


def _seen_by_first(trace: Any, src: Any, dims: list[int], mask: int) -> Any:
    """The region that the first block of the mask names, in the blocks of the mask; the own one in the others."""
    if isinstance(src, Memory) or not isinstance(src, (Region, Element)):
        return src
    first = (mask & -mask).bit_length() - 1
    rank = block_rank_in_cluster()
    included: Any = False
    for block in range(math.prod(dims)):
        if mask >> block & 1:
            included = binary("or", included, binary("==", rank, block)) if included is not False else binary("==", rank, block)
    ids = []
    for axis, place in enumerate(_places(trace, dims)):
        own = Val(trace.native.program_id(axis))
        first_place = first // math.prod(dims[:axis]) % dims[axis]
        ids.append(select(included, own - place + first_place, own) if dims[axis] > 1 else own)

    def moved(start: Any) -> Any:
        return Val(trace.native.elsewhere(start, ids)) if isinstance(start, Val) else start

    if isinstance(src, Element):
        return Element(src.memory, [moved(index) for index in src.indices])
    return Region(src.memory, [moved(start) for start in src.starts], src.extents)
