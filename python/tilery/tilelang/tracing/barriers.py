"""Barriers of a block: rings that `T.alloc_barrier` makes, and what names one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import error
from .context import NeedsRounds, kernel
from .dtypes import dtype
from .memory import Element
from .values import Expr, binary, is_number


class Barriers:
    """`bars = T.alloc_barrier([128] * 3)`: bars[i] is one of them; a ring of one may stand for it."""

    dtype = dtype("uint64")
    name: str | None = None

    def __init__(self, handle: Any, arrivals: Sequence[int], scope: str) -> None:
        self.handle, self.arrivals, self.scope_name = handle, tuple(arrivals), scope

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.arrivals),)

    def call(self, name: str) -> None:
        """Gives it the name of the variable that holds it first."""
        if self.name is None:
            self.name = name
            kernel("a barrier").native.name_barriers(self.handle, name)

    def scope(self) -> str:
        return self.scope_name

    def __getitem__(self, index: Any) -> Barrier:
        if isinstance(index, tuple) and len(index) == 1:
            (index,) = index
        if isinstance(index, bool) or not isinstance(index, (int, Expr)):
            raise error(TypeError, f"the number of a barrier must be an integer, got {index!r}")
        if isinstance(index, int) and index < 0:
            index += len(self.arrivals)
        if isinstance(index, int) and not 0 <= index < len(self.arrivals):
            raise error(IndexError, f"there is no barrier {index} among {len(self.arrivals)}")
        return Barrier(self, index)

    def __len__(self) -> int:
        return len(self.arrivals)


class Barrier:
    """One barrier of a ring."""

    def __init__(self, ring: Barriers, index: Any) -> None:
        self.ring, self.index = ring, index

    def arrive(self, threads: int) -> None:
        """So many threads of the block arrive."""
        kernel("a barrier").native.arrive(self.ring.handle, self.index, threads)

    def wait(self, parity: Any) -> None:
        """Waits until the phase of this parity has completed."""
        kernel("a barrier").native.wait(self.ring.handle, self.index, parity)


def barrier_of(value: Any, what: str) -> Barrier:
    """The barrier that an argument names."""
    if isinstance(value, Barriers):
        if len(value) != 1:
            raise error(ValueError, f"{what} takes one barrier, got {len(value)} of them", hint="name one: bars[i]")
        return value[0]
    if not isinstance(value, Barrier):
        raise error(TypeError, f"{what} takes a barrier, got {value!r}", hint="T.alloc_barrier makes them")
    return value


def parity_of(value: Any, what: str) -> Any:
    """A parity: an integer whose last bit counts."""
    if isinstance(value, bool):
        return int(value)
    if not (is_number(value) and isinstance(value, int)) and not isinstance(value, Expr):
        raise error(TypeError, f"{what} takes the parity of a phase, 0 or 1, got {value!r}")
    return value


def numbered(number: int, arrivals: int, what: str) -> Barrier:
    """The barrier of a block that programs name by a number, whose phases end after so many arrivals of threads."""
    trace = kernel(what)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 16:
        raise error(ValueError, f"{what} takes the number of a barrier, 0 to 15, got {number!r}")
    if isinstance(arrivals, bool) or not isinstance(arrivals, int) or arrivals < 1:
        raise error(ValueError, f"{what} takes a number of threads, got {arrivals!r}")
    ring = trace.open.numbered.get(number)
    if ring is None:
        ring = trace.open.numbered[number] = Barriers(trace.native.barriers([arrivals]), [arrivals], "shared.barrier")
    if ring.arrivals != (arrivals,):
        raise error(
            ValueError, f"{what} of {arrivals} threads at barrier {number}, which is one of {ring.arrivals[0]} elsewhere"
        )
    return Barrier(ring, 0)


def meet_at(number: int, arrivals: int, what: str) -> None:
    """The threads of a role arrive at a barrier with a number, and wait for the end of its phase."""
    trace = kernel(what)
    barrier = numbered(number, arrivals, what)
    place = "rounds", number, tuple(trace.acting_threads)
    if place not in trace.open.rounds:
        raise NeedsRounds((len(trace.launches), place))
    rounds = Element(trace.open.rounds[place], [0])
    count = rounds.read()
    barrier.arrive(trace.acting)
    barrier.wait(binary("&", count, 1))
    rounds.store(binary("+", count, 1))
