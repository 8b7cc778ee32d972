"""`with T.Kernel(...)`: one launch, and what its body may ask about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import current, kernel, threads
from ..tracing.thread_index import ThreadIndex
from ..tracing.values import Expr, Val


class Kernel:
    """`with T.Kernel(gx, gy, threads=128) as (bx, by)`; one block without extents. Programs run in any order. Tile operations are
    the block's; a body that asks for its thread (T.get_thread_binding) runs in each thread."""

    def __init__(
        self,
        *blocks: int | Expr,
        threads: int | Sequence[int] = 128,
        prelude: str | None = None,
        cluster_dims: Any = None,
        is_cpu: bool = False,
    ) -> None:
        blocks = blocks or (1,)
        if len(blocks) > 3:
            raise error(ValueError, f"T.Kernel takes up to three grid extents, got {len(blocks)}")
        for extent in blocks:
            if isinstance(extent, bool) or not isinstance(extent, (int, Expr)):
                raise error(TypeError, f"a grid extent of T.Kernel must be an integer, got {extent!r}")
            if isinstance(extent, int) and extent < 0:
                raise error(ValueError, f"a grid extent of T.Kernel must not be negative, got {extent}")
        threads = list(threads or [128]) if isinstance(threads, Sequence) or threads is None else [threads]
        if len(threads) > 3 or any(not isinstance(n, int) or n <= 0 for n in threads):
            raise error(ValueError, f"threads must be one to three positive integers, got {threads}")
        if prelude:
            raise error(NotImplementedError, "T.Kernel(prelude=...) is source text of another language")
        ignore("T.Kernel", is_cpu=is_cpu)
        self.blocks, self.threads = blocks, threads
        self.cluster_dims = cluster_dims

    def __enter__(self) -> Any:
        trace = current()
        if trace is None:
            raise error(
                RuntimeError, "T.Kernel is used outside of a kernel", hint="use it in a function decorated with @T.prim_func"
            )
        trace.begin_kernel(self.blocks, self.threads)
        trace.open.cluster_dims = self.cluster_dims
        self.trace = trace
        ids = [Val(trace.native.program_id(axis), single=len(self.blocks) == 1) for axis in range(len(self.blocks))]
        trace.begin_threads()
        return ids[0] if len(ids) == 1 else tuple(ids)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        if kind is None:
            self.trace.end_kernel()


class KernelLaunchFrame:
    """What helpers ask of the kernel they are called in: `KernelLaunchFrame.Current().get_thread_extents()`."""

    @classmethod
    def Current(cls) -> KernelLaunchFrame | None:
        """The kernel being written; None outside of one."""
        trace = current()
        return cls() if trace is not None and trace.in_kernel else None

    def get_thread_extent(self, dim: int) -> int:
        return get_thread_extent(dim)

    def get_thread_extents(self) -> list[int]:
        return get_thread_extents()

    def get_thread_binding(self, dim: int = 0) -> int | Expr:
        return get_thread_binding(dim)

    def get_thread_bindings(self) -> list[int | Expr]:
        return get_thread_bindings()

    def get_num_threads(self) -> int:
        return get_num_threads()

    def get_block_binding(self, dim: int = 0) -> Val:
        return get_block_binding(dim)

    def get_block_bindings(self) -> list[Val]:
        return get_block_bindings()

    @property
    def blocks(self) -> list[Val]:
        return get_block_bindings()

    @property
    def threads(self) -> list[int | Expr]:
        return get_thread_bindings()

    @property
    def num_threads(self) -> int:
        return get_num_threads()


def get_thread_binding(dim: int = 0) -> int | Expr:
    """The index of this thread in its block, along an axis; 0 if the block has one thread there. Where it only tells warps
    apart, or one thread from the others, a kernel is no code for single threads."""
    trace = kernel("T.get_thread_binding")
    extents = trace.open.threads
    if dim >= len(extents) or extents[dim] == 1:
        return 0
    if trace.open.thread is None:
        return ThreadIndex(extents[dim], lambda: current().thread_index(dim), math.prod(extents) // extents[dim])
    return threads("T.get_thread_binding").open.thread_indices[dim]


def get_thread_bindings() -> list[int | Expr]:
    """The indices of this thread in its block."""
    return [get_thread_binding(dim) for dim in range(3)]


def get_thread_extent(dim: int = 0) -> int:
    """The number of threads of a block along an axis."""
    threads = kernel("T.get_thread_extent").open.threads
    return threads[dim] if dim < len(threads) else 1


def get_thread_extents() -> list[int]:
    """The numbers of threads of a block along all three axes."""
    return [get_thread_extent(dim) for dim in range(3)]


def get_num_threads() -> int:
    """The number of threads of a block."""
    return math.prod(kernel("T.get_num_threads").open.threads)


def launch_thread(tag: str, extent: Any) -> Any:
    """The index of this thread or block along an axis, by upstream's old name of it."""
    dims, index, size = {
        "threadIdx": (("x", "y", "z"), get_thread_binding, get_thread_extent),
        "blockIdx": (("x", "y", "z"), get_block_binding, get_block_extent),
    }.get(str(tag).partition(".")[0], ((), None, None))
    axis = str(tag).partition(".")[2]
    if axis not in dims or index is None or size is None:
        raise error(ValueError, f"T.launch_thread has no axis {tag!r}", hint="known: threadIdx.x to z, blockIdx.x to z")
    dim = dims.index(axis)
    have = size(dim)
    if isinstance(have, int) and isinstance(extent, int) and have != extent:
        raise error(ValueError, f"T.launch_thread of {extent} along {tag}: T.Kernel has {have} there")
    return index(dim)


def get_block_binding(dim: int = 0) -> Val:
    """The coordinate of this block on a grid axis."""
    return Val(kernel("T.get_block_binding").native.program_id(dim))


def get_block_bindings() -> list[Val]:
    """The coordinates of this block on all three grid axes."""
    return [get_block_binding(dim) for dim in range(3)]


def get_block_extent(dim: int = 0) -> Val:
    """The extent of a grid axis."""
    return Val(kernel("T.get_block_extent").native.num_programs(dim))


def get_block_extents() -> list[Val]:
    """The extents of all three grid axes."""
    return [get_block_extent(dim) for dim in range(3)]
