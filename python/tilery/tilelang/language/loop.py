"""Loops by their names in T."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from ...core.ignored import ignore
from ...errors import error
from ...frontend.wording import counted
from ..tracing.context import kernel
from ..tracing.loops import Iteration, Serial
from ..tracing.pairs import halved
from ..tracing.pipeline import Plan
from ..tracing.values import Val, binary, same_type
from .kernel import get_block_binding, get_thread_binding, get_thread_extent
from .rng import after_loop


class Grid(Iteration):
    """`for i, j in T.grid(m, n)`: nested sequential loops."""

    def __init__(self, *extents: Any) -> None:
        kernel("T.grid")
        self.extents = extents

    def bounds(self, jump: str = "break") -> NoReturn:
        raise error(NotImplementedError, f"`{jump}` out of T.grid", hint="write nested T.serial loops")

    def run(self, trace: Any, body: Callable[[Any], Any], line: int, indices: tuple[Any, ...] = ()) -> Any:
        if len(indices) == len(self.extents):
            return body(indices if len(indices) != 1 else indices[0])
        return Serial(self.extents[len(indices)]).run(trace, lambda i: self.run(trace, body, line, (*indices, i)), line)


class Parallel(Iteration):
    """`for i, j in T.Parallel(m, n)`: iterations in any order, side by side."""

    def __init__(
        self,
        *extents: Any,
        coalesced_width: int | None = None,
        loop_layout: Any = None,
        prefer_async: bool | None = None,
        annotations: dict[str, Any] | None = None,
    ) -> None:
        kernel("T.Parallel")
        if not extents:
            raise error(ValueError, "T.Parallel needs at least one extent")
        _refuse_negative("T.Parallel", extents)
        ignore(
            "T.Parallel",
            coalesced_width=coalesced_width,
            loop_layout=loop_layout,
            prefer_async=prefer_async,
            annotations=annotations or None,
        )
        self.extents = extents

    def bounds(self, jump: str = "break") -> NoReturn:
        instead = "use T.serial" if jump == "break" else "`continue` ends one of them"
        raise error(NotImplementedError, f"`{jump}` out of T.Parallel", hint=f"its iterations run in any order; {instead}")

    def run(self, trace: Any, body: Callable[[Any], Any], line: int) -> None:
        if trace.parallel:
            return self._run_inside(trace, body, line)
        paired = trace.paired(self.extents, line)
        extents = halved(self.extents, paired)
        indices = [Val(v) for v in trace.native.parallel_begin(same_type(trace.native, *extents))]
        self.lanes = trace.lanes = [(indices, extents)]
        self._trace_body(trace, body, line, indices, paired)
        trace.lanes = []
        trace.native.parallel_end()
        if trace.draws:
            after_loop(trace, self.lanes)

    def _run_inside(self, trace: Any, body: Callable[[Any], Any], line: int) -> None:
        """The loop is all that an outer one does: both are one loop over more dimensions."""
        if trace.regions[-1].kind != "T.Parallel" or trace.native.effects():
            raise _nested()
        paired = trace.paired(self.extents, line)
        extents = halved(self.extents, paired)
        indices = [Val(v) for v in trace.native.parallel_extend(extents)]
        trace.lanes.append((indices, extents))
        self._trace_body(trace, body, line, indices, paired)
        trace.regions[-1].merged = trace.native.effects()

    def _trace_body(self, trace: Any, body: Callable[[Any], Any], line: int, indices: list[Val], paired: Sequence[bool]) -> None:
        trace.parallel.append([i.uid for i in indices])
        trace.begin_parallel(indices, line)
        ranges = [(index, 0, extent, 1) for index, extent in zip(indices, trace.lanes[-1][1])]
        with trace.region("T.Parallel", line), trace.ranging(ranges):
            trace.in_pairs(indices, self.extents, paired, lambda at: body(tuple(at) if len(at) > 1 else at[0]))
            self._check_merged(trace)
        trace.parallel.pop()

    def _check_merged(self, trace: Any) -> None:
        """After a loop in this one nothing else may stand."""
        merged = getattr(trace.regions[-1], "merged", None)
        if merged is not None and trace.native.effects() != merged:
            raise _nested()


def _nested() -> Exception:
    return error(
        ValueError,
        "[Tilelang Semantic Check] Nested parallel loops are not allowed. Please check your loop structure.",
        hint="give all extents to one T.Parallel, or nest them with nothing beside the inner one",
    )


def _refuse_negative(loop: str, extents: Sequence[Any]) -> None:
    """Of loops whose iterations lie side by side, which have extents as tiles do; of those that run one after the other, bounds
    that cross are none."""
    for extent in extents:
        if isinstance(extent, int) and extent < 0:
            raise error(ValueError, f"an extent of {loop} must not be negative, got {extent}")


def While(condition: Any) -> Any:
    """`with T.While(condition):` is `while condition:`."""
    kernel("T.While")
    return condition


def If(condition: Any) -> NoReturn:
    """`with T.If(condition):` around `with T.Then():` and `with T.Else():` is `if condition: ... else: ...`."""
    raise error(RuntimeError, "`with T.If(condition):` holds a `with T.Then():` or that and a `with T.Else():`")


def Then() -> NoReturn:
    """`with T.Then():` in a `with T.If(condition):` is what happens if the condition holds."""
    raise error(RuntimeError, "`with T.Then():` stands in a `with T.If(condition):`")


def Else() -> NoReturn:
    """`with T.Else():` in a `with T.If(condition):` is what happens if the condition does not hold."""
    raise error(RuntimeError, "`with T.Else():` stands in a `with T.If(condition):`, behind its `with T.Then():`")


def thread_return() -> NoReturn:
    """`T.thread_return()` as a statement ends the kernel for its thread: `return` in the kernel's own function."""
    raise error(RuntimeError, "T.thread_return() is a statement of a kernel", hint="write `return`")


def loop_break() -> NoReturn:
    """`T.loop_break()` as a statement is `break`."""
    raise error(RuntimeError, "T.loop_break() is a statement of a kernel's loop", hint="write `break`")


def serial(start: Any, stop: Any = None, step: Any = 1, *, annotations: dict[str, Any] | None = None) -> Serial:
    """A sequential loop."""
    ignore("T.serial", annotations=annotations or None)
    return Serial(start, stop, step)


def unroll(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    *,
    explicit: bool = False,
    unroll_factor: int | None = None,
    annotations: dict[str, Any] | None = None,
) -> Serial:
    """A sequential loop that is unrolled: `unroll_factor` iterations at a time, with `explicit` all of them, where that is not
    too much code; else as the target likes."""
    ignore("T.unroll", explicit=explicit, unroll_factor=unroll_factor, annotations=annotations or None)
    if unroll_factor is None:
        rounds = len(_fixed(start, stop, step)) if explicit else 1
    elif explicit:
        raise error(ValueError, "T.unroll takes `explicit` or an `unroll_factor`, not both", hint="explicit=True unrolls all")
    elif isinstance(unroll_factor, bool) or not isinstance(unroll_factor, int) or unroll_factor < 1:
        raise error(ValueError, f"unroll_factor of T.unroll is a positive integer, got {unroll_factor!r}")
    else:
        rounds = unroll_factor
    return Serial(start, stop, step, {"unroll": rounds} if rounds > 1 else {})


def _fixed(start: Any, stop: Any, step: Any) -> range:
    """The iterations of a loop that is to be unrolled completely."""
    bounds = (0, start, step) if stop is None else (start, stop, step)
    if not all(isinstance(bound, int) for bound in bounds):
        hint = "give an unroll_factor, or bounds that are known at compile time"
        raise error(ValueError, "T.unroll(explicit=True) cannot unroll a loop of run-time bounds", hint=hint)
    return range(*bounds)


def vectorized(start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None) -> Serial:
    """A loop whose iterations may run as one vector."""
    ignore("T.vectorized", annotations=annotations or None)
    if stop is None:
        _refuse_negative("T.vectorized", (start,))
    return Serial(start, stop, 1, {"vectorize": True})


def Pipelined(
    start: Any,
    stop: Any = None,
    num_stages: int = 0,
    order: Sequence[int] | None = None,
    stage: Sequence[int] | None = None,
    sync: Any = None,
    group: Any = None,
    annotations: dict[str, Any] | None = None,
) -> Serial:
    """A sequential loop whose copies may run ahead; results are those of T.serial. `order` and `stage` have an entry for each
    statement of the body, or for each list of them in `group`."""
    if isinstance(num_stages, bool) or not isinstance(num_stages, int) or num_stages < 0:
        raise error(ValueError, f"num_stages of T.Pipelined is 0 or a positive integer, got {num_stages!r}")
    plan = Plan(order, stage, group) if order or stage or group else None
    ignore("T.Pipelined", order=order, stage=stage, sync=sync, group=group, annotations=annotations or None)
    return Serial(start, stop, 1, {"num_stages": num_stages} if num_stages else {}, plan)


class thread_binding(Iteration):
    """`for tx in T.thread_binding(128, "threadIdx.x")`: each thread takes the iteration of its own index. A name that is given it
    is that index from there on."""

    def __init__(self, start: Any, stop: Any = None, thread: Any = None, *, annotations: Any = None) -> None:
        if isinstance(stop, str):
            stop, thread = None, stop
        if stop is None:
            start, stop = 0, start
        kernel("T.thread_binding")
        ignore("T.thread_binding", annotations=annotations or None)
        if not isinstance(start, int) or not isinstance(stop, int):
            raise error(TypeError, f"T.thread_binding takes extents known at compile time, got {start!r}, {stop!r}")
        self.start, self.count = start, stop - start
        kind, _, axis = str(thread).partition(".")
        if kind not in ("threadIdx", "blockIdx") or axis not in ("x", "y", "z"):
            raise error(ValueError, f"T.thread_binding has no axis {thread!r}", hint="known: threadIdx.x to z, blockIdx.x to z")
        self.of_thread, self.dim = kind == "threadIdx", "xyz".index(axis)

    def named(self) -> Any:
        if self.of_thread and self.count != get_thread_extent(self.dim):
            extent = get_thread_extent(self.dim)
            raise error(
                ValueError,
                f"T.thread_binding of {counted(self.count, 'thread')}: the block has {extent} along this axis",
                hint="write it as a loop, whose body only those threads run",
            )
        return self._index()

    def _index(self) -> Any:
        index: Any = get_thread_binding(self.dim) if self.of_thread else get_block_binding(self.dim)
        return index + self.start if self.start else index

    def bounds(self, jump: str = "break") -> NoReturn:
        raise error(NotImplementedError, f"`{jump}` out of T.thread_binding", hint="its iterations run side by side")

    def run(self, trace: Any, body: Callable[[Any], Any], line: int) -> None:
        extent = get_thread_extent(self.dim) if self.of_thread else None
        if extent is not None and self.count > extent:
            raise error(
                ValueError, f"T.thread_binding of {counted(self.count, 'thread')}: the block has {extent} along this axis"
            )
        place = self._index()
        if extent == self.count:
            body(place)
            return
        trace.native.if_begin(trace.condition(binary("<", place, self.start + self.count)))
        with trace.region("T.thread_binding", line):
            body(place)
        trace.native.if_else()
        trace.native.if_end([], [])


def Persistent(domain: Iterable[Any], wave_size: Any, index: Any, group_size: int = 8) -> _Persistent:
    """The blocks of `domain` that block `index` of `wave_size` visits, last coordinate in groups of group_size."""
    if not isinstance(domain, (list, tuple)) or not domain:
        hint = "write T.Persistent([m_blocks, n_blocks], num_workers, block)"
        raise error(TypeError, f"the domain of T.Persistent is a list of extents, got {domain!r}", hint=hint)
    return _Persistent(list(domain), wave_size, index, group_size)


class _Persistent(Iteration):
    def __init__(self, domain: list[Any], wave_size: Any, index: Any, group_size: int) -> None:
        kernel("T.Persistent")
        self.domain, self.wave_size, self.index = domain, wave_size, index
        last = domain[-1]
        self.group = min(max(group_size, 1), last) if isinstance(last, int) else group_size

    def bounds(self, jump: str = "break") -> NoReturn:
        raise error(NotImplementedError, f"`{jump}` out of T.Persistent")

    def run(self, trace: Any, body: Callable[[Any], Any], line: int) -> None:
        outer = [binary("//", self.domain[-1] + self.group - 1, self.group), *self.domain[:-1]]
        total = self.group
        for size in outer:
            total = total * size

        def wave(w: Any) -> None:
            rest = w * self.wave_size + self.index
            coordinates: list[Any] = []
            for size in (self.group, *reversed(outer[1:])):
                coordinates.insert(0, rest % size)
                rest = rest // size
            inside = rest * self.group + coordinates[-1]
            trace.native.if_begin(trace.condition((w * self.wave_size + self.index < total) & (inside < self.domain[-1])))
            with trace.region("T.Persistent", line):
                body((*coordinates[:-1], inside))
            trace.native.if_else()
            trace.native.if_end([], [])

        Serial((total + self.wave_size - 1) // self.wave_size).run(trace, wave, line)
