"""The index of a thread, as far as a program only asks to which warps it belongs: then it is a program of roles, and its tile
operations are what the threads of a role do together. Any other use makes it a program of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .context import current
from .dtypes import dtype
from .values import Expr, Form, OneThread, binary, combined, read, unary

Ranges = list[tuple[int, int]]
_WARP = 32
_INTEGER_OPS = {"+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "min", "max", "<", "<=", ">", ">=", "==", "!="}


def intersection(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> Ranges:
    """The threads that are in both."""
    parts = [(max(x, u), min(y, v)) for x, y in a for u, v in b]
    return sorted((first, end) for first, end in parts if first < end)


def rest(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> Ranges:
    """The threads of `a` that are not in `b`."""
    left = list(a)
    for u, v in b:
        left = [part for x, y in left for part in ((x, min(y, u)), (max(x, v), y)) if part[0] < part[1]]
    return sorted(left)


class ThreadNumber(Expr):
    """A number that depends on the thread. number: makes the value, of code that runs in each thread; what is computed from it
    elsewhere is another such number."""

    __slots__ = ("number", "form", "dtype")

    def __init__(self, number: Callable[[], Any], form: Form | None = None, kind: str = "int32") -> None:
        super().__init__()
        self.number, self.form, self.dtype = number, form, dtype(kind)

    @property
    def __tile_value__(self) -> Any:
        return self.number().__tile_value__

    def affine(self) -> Form:
        return self.form or ({self.uid: 1}, 0)

    def later(self, op: str, a: Any, b: Any) -> Any:
        """a op b, of which this is one; None: it can be computed now, or is no integer."""
        trace = current()
        if trace is None or not trace.in_kernel or trace.open.thread is not None or op not in _INTEGER_OPS:
            return None
        a, b = read(a), read(b)
        if not all(isinstance(x, int) or (isinstance(x, Expr) and "int" in str(x.dtype)) for x in (a, b)):
            return None
        compares = op in ("<", "<=", ">", ">=", "==", "!=")
        return ThreadNumber(
            lambda: binary(op, _now(a), _now(b)), None if compares else combined(op, a, b), "bool" if compares else "int32"
        )


def _now(value: Any) -> Any:
    return value.number() if isinstance(value, ThreadNumber) else value


class ThreadIndex(ThreadNumber):
    """The number of a thread along an axis, divided by `divisor`; `rows`: how many threads have each."""

    __slots__ = ("extent", "divisor", "rows")
    __hash__ = Expr.__hash__

    def __init__(self, extent: int, number: Callable[[], Any], rows: int = 1, divisor: int = 1) -> None:
        super().__init__(number)
        self.extent, self.rows, self.divisor = extent, rows, divisor

    def __floordiv__(self, other: Any) -> Any:
        if isinstance(other, int) and not isinstance(other, bool) and other > 0:
            return ThreadIndex(self.extent, lambda: binary("//", self.number(), other), self.rows, self.divisor * other)
        return binary("//", self, other)

    def _compared(self, op: str, other: Any) -> Any:
        if not isinstance(other, int) or isinstance(other, bool):
            return binary(op, self, other)
        first, end = other * self.divisor, (other + 1) * self.divisor
        here = {
            "<": [(0, first)],
            "<=": [(0, end)],
            ">": [(end, self.extent)],
            ">=": [(first, self.extent)],
            "==": [(first, end)],
            "!=": [(0, first), (end, self.extent)],
        }[op]
        ranges = intersection(here, [(0, self.extent)])
        if not ranges or ranges == [(0, self.extent)]:
            return bool(ranges)
        if self.rows > 1:
            count = self.rows * sum(end - first for first, end in ranges)
            return OneThread(count, count > 1, lambda: binary(op, self.number(), other))
        return RoleCondition(self.extent, ranges, lambda: binary(op, self.number(), other))

    def __lt__(self, other: Any) -> Any:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(">=", other)

    def __eq__(self, other: object) -> Any:
        return self._compared("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compared("!=", other)


class RoleCondition(Expr):
    """True in the threads of some ranges."""

    __slots__ = ("extent", "ranges", "number")
    dtype = dtype("bool")

    def __init__(self, extent: int, ranges: Ranges, number: Callable[[], Any]) -> None:
        super().__init__()
        self.extent, self.ranges, self.number = extent, ranges, number

    @property
    def __tile_value__(self) -> Any:
        return self.number().__tile_value__

    def is_role(self) -> bool:
        """Whole warps, or one thread."""
        bounds = [bound for part in self.ranges for bound in part if bound != self.extent]
        return all(bound % _WARP == 0 for bound in bounds) or sum(end - first for first, end in self.ranges) == 1

    def negated(self) -> RoleCondition:
        return RoleCondition(self.extent, rest([(0, self.extent)], self.ranges), lambda: unary("not", self.number()))

    def both(self, other: RoleCondition) -> Any:
        ranges = intersection(self.ranges, other.ranges)
        return RoleCondition(self.extent, ranges, lambda: binary("and", self.number(), other.number())) if ranges else False

    def either(self, other: RoleCondition) -> Any:
        return self.negated().both(other.negated()).negated() if rest(self.negated().ranges, other.ranges) else True
