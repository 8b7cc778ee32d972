"""Which thread holds an element of a tile, and as which of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype
from ..tracing.values import Var, substitute
from .layout import Layout


class Fragment(Layout):
    """`Fragment((8, 8), forward_fn=lambda i, j: (thread, index))`, or the two as functions of their own. With `replicate`
    copies, functions of the thread take the number of the copy as one more argument."""

    def __init__(
        self,
        shape: Sequence[int] | int,
        forward_fn: Callable[..., Any] | None = None,
        forward_thread_fn: Callable[..., Any] | None = None,
        replicate: int = 1,
        forward_index_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(shape, lambda *indices: list(indices))
        self.replicate = replicate
        copy = (Var("rep", dtype("int32")),) if replicate > 1 else ()
        if forward_fn is not None:
            thread, places = forward_fn(*self.variables, *copy)
        elif forward_thread_fn is not None:
            thread = forward_thread_fn(*self.variables, *copy)
            places = forward_index_fn(*self.variables) if forward_index_fn else []
        else:
            raise error(ValueError, "T.Fragment needs forward_fn or forward_thread_fn")
        self.thread = thread
        self.index = list(places) if isinstance(places, (list, tuple)) else [places]
        self.copies = copy

    def map_forward_thread(self, indices: Sequence[Any], rep: Any = 0) -> Any:
        """The thread that holds the element at these indices (of one of its copies)."""
        known = {var.uid: index for var, index in zip((*self.variables, *self.copies), (*indices, rep))}
        return substitute(self.thread, known)

    def get_thread_size(self) -> int:
        """One more than the greatest thread; the shape must be known."""
        copies = range(self.replicate)
        return 1 + max(self.map_forward_thread(element, rep) for element in self.elements() for rep in copies)

    def is_equal(self, other: Layout) -> bool:
        """Does every thread hold the same elements at the same places?"""
        if not isinstance(other, Fragment) or self.replicate != other.replicate or not super().is_equal(other):
            return False
        return all(
            self.map_forward_thread(element, rep) == other.map_forward_thread(element, rep)
            for element in self.elements()
            for rep in range(self.replicate)
        )

    def __repr__(self) -> str:
        return f"Fragment({self.input_shape} -> thread {self.thread!r}, index {self.index})"


def make_gemm_fragment_8x8() -> Fragment:
    """Rows over groups of 4 threads, two elements side by side each."""
    return Fragment((8, 8), forward_fn=lambda i, j: (i * 4 + j // 2, j % 2))


def make_gemm_fragment_8x8_transposed() -> Fragment:
    """Columns over groups of 4 threads, two elements one below the other each."""
    return Fragment((8, 8), forward_fn=lambda i, j: (j * 4 + i // 2, i % 2))


def make_fully_replicated_layout_fragment(buffer: Any, threads: int) -> Fragment:
    """Every thread holds all of the tile."""
    shape, strides = tuple(buffer.shape), [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)

    def place(*indices: Any) -> Any:
        return sum(index * stride for index, stride in zip(indices, strides))

    def copy(*indices: Any) -> Any:
        return indices[-1] if threads > 1 else 0

    return Fragment(shape, forward_thread_fn=copy, replicate=threads, forward_index_fn=place)
