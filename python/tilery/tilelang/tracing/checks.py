"""What a trace refuses: accesses that certainly leave a buffer, arrays of threads indexed by what is spread over them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import Error, error
from ...frontend import position
from ...frontend.operators import BINARY
from .memory import Element, Memory
from .values import Expr, Val, is_number
from .words import BY_ELEMENT


class Checks:
    """The part of a trace that looks at accesses and loops."""

    native: Any
    regions: Any
    parallel: list[list[int]]  # ids of the loop variables of each open T.Parallel
    lanes: list[Any]  # [(variables, extents)] of the open T.Parallel and those in it
    ranges: dict[int, tuple[int, int]]  # {variable of a loop: (least, greatest)}
    certain: int  # loops around that are known to run
    doubtful: list[tuple[Any, Error]]  # loads outside a buffer: (value, error)

    def check_private(self, element: Element) -> None:
        """A per-thread array cannot be indexed by what is spread over threads, nor a fragment by what is so in a way known at
        run time."""
        if element.memory.scope_name == "local.fragment":
            self._check_fragment(element)
        if element.memory.scope_name != "local" or not self.parallel:
            return
        for index in element.indices:
            if isinstance(index, Expr) and any(uid in index.affine()[0] for loop in self.parallel for uid in loop):
                raise error(
                    ValueError,
                    f"[Tilelang Semantic Check] Local buffer `{element.memory.label()}` is indexed by T.Parallel loop variable",
                    hint="use T.alloc_fragment, or a T.serial, T.unroll or T.vectorized loop",
                )

    def _check_fragment(self, element: Element) -> None:
        for indices, extents in self.lanes:
            for variable, extent in zip(indices, extents):
                if not isinstance(extent, int) and any(self._depends(index, variable) for index in element.indices):
                    raise error(
                        ValueError,
                        f"[Tilelang Semantic Check] Loop variable with the symbolic range {extent!r} indexes the fragment "
                        f"`{element.memory.label()}`",
                        hint="give the T.Parallel loop an extent known at compile time, or use T.serial or a shared buffer",
                    )

    def _depends(self, index: Any, variable: Val) -> bool:
        return isinstance(index, Val) and bool(self.native.depends_on(index, variable))

    @contextlib.contextmanager
    def ranging(self, loops: Sequence[Any]) -> Iterator[None]:
        """A loop's body, with what its variables run over: [(variable, start, stop, step)]."""
        known = all(isinstance(bound, int) for _, *bounds in loops for bound in bounds)
        known = known and all(step > 0 and start < stop for _, start, stop, step in loops)
        outer = self.ranges
        inside = {var.uid: (lo, lo + (hi - 1 - lo) // step * step) for var, lo, hi, step in loops} if known else {}
        # A store is certain where every region around it is a loop that is known to run.
        self.ranges = {**outer, **inside} if known and len(self.regions) == self.certain + 1 else {}
        before, self.certain = self.certain, self.certain + bool(self.ranges)
        yield
        self.ranges, self.certain = outer, before

    def range_error(self, memory: Memory, indices: Sequence[Any]) -> Any:
        """(dimension, least and greatest index) of what some iteration certainly does outside a buffer of the kernel; None: it
        does not, or nobody knows."""
        if not self.ranges or len(self.regions) != self.certain:
            return None
        for dim, index in enumerate(indices):
            form, least = index.affine() if isinstance(index, Expr) else ({}, index)
            if not form or not all(uid in self.ranges for uid in form):
                continue
            greatest = least
            for uid, factor in form.items():
                ends = sorted(factor * end for end in self.ranges[uid])
                least, greatest = least + ends[0], greatest + ends[1]
            if least < 0 or greatest >= memory.shape[dim]:
                return dim, least, greatest
        return None

    def check_range(self, memory: Memory, indices: Sequence[Any]) -> None:
        """Refuses a store to a buffer of the kernel that some iteration makes outside of it."""
        found = self.range_error(memory, indices)
        if found:
            raise _outside(memory, *found)

    def check_load(self, memory: Memory, indices: Sequence[Any], value: Any) -> None:
        """The same for a load, once it is known that what it gives is used, and not only where a condition holds."""
        found = self.range_error(memory, indices)
        if found:
            dim, least, greatest = found
            self.doubtful.append((value.value, _outside(memory, dim, least, greatest, position.current())))

    def check_doubtful(self) -> None:
        """Raises what check_load has found, at the end of the kernel."""
        for value, failure in self.doubtful:
            if self.native.is_used(value):
                raise failure
        self.doubtful = []

    def operate(self, op: str, a: Any, b: Any) -> Any:
        for x, y in ((a, b), (b, a)):
            if op in ("==", "!=") and isinstance(x, Memory) and (is_number(y) or isinstance(y, Expr)):
                raise error(TypeError, f"operator {op} compares numbers, and this is {x.__tile_word__}", hint=BY_ELEMENT)
        return BINARY[op](a, b)

    def check_tile_op(self, what: str) -> None:
        if self.parallel:
            raise error(
                ValueError,
                "[Tilelang Semantic Check] Only elementwise operations are allowed inside a parallel loop. "
                f'Got a tile-op "{what}".',
                hint="move it before or after the T.Parallel loop",
            )


def _outside(memory: Memory, dim: Any, least: Any, greatest: Any, chain: Any = ()) -> Any:
    return error(
        IndexError,
        f"index {least} to {greatest} is out of range for dimension {dim} of `{memory.label()}`",
        hint=f"its shape is {memory.shape}",
        chain=chain,
    )
