"""Loops: what `for` runs over in a kernel."""

from ..errors import error
from .context import kernel
from .values import Expr, Val, binary


class Iteration:
    """What a loop function gives; `run` builds the loop."""

    attributes = {}


class Serial(Iteration):
    """`for i in T.serial(start, stop, step)`; the hints of the other sequential loops are attributes."""

    def __init__(self, start, stop=None, step=1, attributes=None):
        kernel("a loop")
        if stop is None:
            start, stop = 0, start
        for bound in (start, stop, step):
            if isinstance(bound, bool) or not isinstance(bound, (int, Expr)):
                raise error(TypeError, f"a loop bound must be an integer, got {bound!r}")
        if isinstance(step, int) and step == 0:
            raise error(ValueError, "the step of a loop must not be 0")
        self.start, self.stop, self.step, self.attributes = start, stop, step, attributes or {}

    def bounds(self):
        return self.start, self.stop, self.step

    def run(self, trace, body, line):
        if trace.parallel and "num_stages" in self.attributes:
            raise error(ValueError, "[Tilelang Semantic Check] Pipelined loop cannot be nested inside a parallel loop.")
        if isinstance(self.step, int) and self.step < 0:  # mirrored: the counter goes up
            count = (self.start - self.stop + (-self.step - 1)) // -self.step
            self._loop(trace, 0, count, 1, lambda i: body(self.start + i * self.step), line)
        else:
            self._loop(trace, self.start, self.stop, self.step, body, line)

    def _loop(self, trace, lo, hi, step, body, line):
        counter, _ = trace.b.for_begin(lo, hi, step, [], self.attributes)
        with trace.region("for", line):
            body(counter)
        trace.b.for_end([])


class Grid(Iteration):
    """`for i, j in T.grid(m, n)`: nested sequential loops."""

    def __init__(self, *extents):
        kernel("T.grid")
        self.extents = extents

    def bounds(self):
        raise error(NotImplementedError, "`break` out of T.grid", hint="write nested T.serial loops")

    def run(self, trace, body, line, indices=()):
        if len(indices) == len(self.extents):
            return body(indices if len(indices) != 1 else indices[0])
        return Serial(self.extents[len(indices)]).run(trace, lambda i: self.run(trace, body, line, (*indices, i)), line)


class Parallel(Iteration):
    """`for i, j in T.Parallel(m, n)`: iterations in any order, side by side."""

    def __init__(self, *extents, coalesced_width=None, loop_layout=None, prefer_async=None, annotations=None):
        kernel("T.Parallel")
        if not extents:
            raise error(ValueError, "T.Parallel needs at least one extent")
        self.extents = extents

    def bounds(self):
        raise error(NotImplementedError, "`break` out of T.Parallel", hint="its iterations run in any order; use T.serial")

    def run(self, trace, body, line):
        from .trace import same_type

        if trace.parallel:
            raise error(
                ValueError,
                "[Tilelang Semantic Check] Nested parallel loops are not allowed. Please check your loop structure.",
                hint="give all extents to one T.Parallel",
            )
        indices = [Val(v) for v in trace.native.parallel_begin(same_type(trace.native, *self.extents))]
        trace.parallel.append([i.uid for i in indices])
        with trace.region("T.Parallel", line):
            body(tuple(indices) if len(indices) > 1 else indices[0])
        trace.parallel.pop()
        trace.native.parallel_end()


def serial(start, stop=None, step=1, *, annotations=None):
    """A sequential loop."""
    return Serial(start, stop, step)


def unroll(start, stop=None, step=1, *, explicit=False, unroll_factor=None, annotations=None):
    """A sequential loop that a target may unroll; a factor of 0 is the target's choice."""
    return Serial(start, stop, step, {"unroll": unroll_factor or 0})


def vectorized(start, stop=None, *, annotations=None):
    """A loop whose iterations may run as one vector."""
    return Serial(start, stop, 1, {"vectorize": True})


def Pipelined(start, stop=None, num_stages=0, order=None, stage=None, sync=None, group=None, annotations=None):
    """A sequential loop whose copies may run ahead; results are those of T.serial."""
    hints = {"num_stages": int(num_stages), "pipeline_order": order, "pipeline_stage": stage}
    return Serial(start, stop, 1, {name: value for name, value in hints.items() if value})


def Persistent(domain, wave_size, index, group_size=8):
    """The blocks of `domain` that block `index` of `wave_size` visits, last coordinate in groups of group_size."""
    return _Persistent(list(domain), wave_size, index, group_size)


class _Persistent(Iteration):
    def __init__(self, domain, wave_size, index, group_size):
        kernel("T.Persistent")
        self.domain, self.wave_size, self.index = domain, wave_size, index
        last = domain[-1]
        self.group = min(max(group_size, 1), last) if isinstance(last, int) else group_size

    def bounds(self):
        raise error(NotImplementedError, "`break` out of T.Persistent")

    def run(self, trace, body, line):
        outer = [binary("//", self.domain[-1] + self.group - 1, self.group), *self.domain[:-1]]
        total = self.group
        for size in outer:
            total = total * size

        def wave(w):
            rest, coordinates = w * self.wave_size + self.index, []
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
