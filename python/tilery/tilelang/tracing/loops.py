"""What `for` runs over in a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...errors import error
from .context import kernel
from .pipeline import Plan
from .values import Expr


class Iteration:
    """What a loop function gives; `run` builds the loop."""

    attributes: dict[str, Any] = {}

    def bounds(self, jump: str = "break") -> tuple[Any, Any, Any]:
        """(start, stop, step), for a loop that a `break` or a `return` leaves; jump: which of them."""
        raise NotImplementedError

    def run(self, trace: Any, body: Callable[[Any], Any], line: int) -> None:
        raise NotImplementedError

    def named(self) -> Any:
        """What a name that is given the loop stands for."""
        return self

    def __iter__(self) -> Iterator[int]:
        text = "a loop of the language stands in a kernel or a macro, not in a plain Python function"
        raise error(TypeError, text, hint="write @T.macro above the function")


class Serial(Iteration):
    """`for i in T.serial(start, stop, step)`; the hints of the other sequential loops are attributes."""

    def __init__(
        self, start: Any, stop: Any = None, step: Any = 1, attributes: dict[str, Any] | None = None, plan: Plan | None = None
    ) -> None:
        if stop is None:
            start, stop = 0, start
        for bound in (start, stop, step):
            if isinstance(bound, bool) or not isinstance(bound, (int, Expr)):
                raise error(TypeError, f"a loop bound must be an integer, got {bound!r}")
        if isinstance(step, int) and step == 0:
            raise error(ValueError, "the step of a loop must not be 0")
        self.start, self.stop, self.step, self.attributes, self.plan = start, stop, step, attributes or {}, plan

    def bounds(self, jump: str = "break") -> tuple[Any, Any, Any]:
        return self.start, self.stop, self.step

    def __iter__(self) -> Iterator[int]:
        """In a comprehension, which runs while the kernel is traced, the numbers themselves."""
        if not all(isinstance(bound, int) for bound in self.bounds()):
            raise error(TypeError, "a comprehension needs a range whose bounds are known at compile time")
        return iter(range(*self.bounds()))

    def run(self, trace: Any, body: Callable[[Any], Any], line: int) -> None:
        kernel("a loop")
        if trace.parallel and "num_stages" in self.attributes:
            raise error(ValueError, "[Tilelang Semantic Check] Pipelined loop cannot be nested inside a parallel loop.")
        if isinstance(self.step, int) and self.step < 0:  # mirrored: the counter goes up
            count = (self.start - self.stop + (-self.step - 1)) // -self.step
            self._loop(trace, 0, count, 1, lambda i: body(self.start + i * self.step), line)
        else:
            self._loop(trace, self.start, self.stop, self.step, body, line)

    def planned(self, trace: Any, body: Callable[[Any], Any], stops: bool) -> Callable[[Any], Any]:
        """The body, after which its plan is checked. `stops`: there is a `break` in it."""

        def run(index: Any) -> None:
            orderings = trace.orderings
            body(index)
            if self.plan and not trace.dry:
                self.plan.check(trace.native.statements(), trace.orderings - orderings, stops)

        return run

    def _loop(self, trace: Any, lo: Any, hi: Any, step: Any, body: Callable[[Any], Any], line: int) -> None:
        counter, _ = trace.b.for_begin(lo, hi, step, [], self.attributes)
        with trace.region("for", line), trace.ranging([(counter, lo, hi, step)]):
            trace.regions[-1].vector = hi - lo if self.attributes.get("vectorize") and isinstance(hi, int) else 1
            if trace.work:
                known = all(isinstance(bound, int) for bound in (lo, hi, step))
                trace.work.launches[-1].stages = max(trace.work.launches[-1].stages, self.attributes.get("num_stages", 1))
                trace.work.times.append(len(range(lo, hi, step)) if known else None)
            self.planned(trace, body, stops=False)(counter)
            if trace.work:
                trace.work.times.pop()
        trace.b.for_end([])
