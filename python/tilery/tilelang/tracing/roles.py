"""Who does what is being traced: all threads of a block together, some of them, or each for itself."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import error
from ...frontend.regions import Getter, Names, Putter
from .context import NeedsCopies, NeedsRows, NeedsThreads
from .memory import Element, Memory, copy
from .thread_index import Ranges, RoleCondition, ThreadNumber, intersection, rest
from .values import Val, binary, read, select

Span = tuple[tuple[int, int], ...]  # threads of a role: (first, end), ...


class Roles:
    """The part of a trace that knows which threads do what is being traced."""

    native: Any
    open: Any
    regions: Any
    parallel: Any
    line: Any
    _leave: Any
    keep_in_phases: Any
    several: int
    lone: bool
    launches: Any
    threaded: set[tuple[Any, Any]]
    part: int | None  # regions around code of single threads between roles
    path: list[int]  # which role of which role is open
    begun: list[int]  # how many roles have been there: outside of all, in the open one, ...
    roles: list[int]  # threads of each open role
    spans: list[Ranges]  # which they are
    actors: list[int]  # of what only some threads do: how many

    @property
    def acting(self) -> int:
        """How many threads of the block do what is being traced."""
        return self.actors[-1] if self.actors else math.prod(self.open.threads)

    @property
    def acting_threads(self) -> Ranges:
        """Which they are."""
        return self.spans[-1] if self.spans else [(0, math.prod(self.open.threads))]

    @contextlib.contextmanager
    def acted_by(self, threads: int, several: bool) -> Iterator[None]:
        """What so many of the threads do; `several`: each for itself, where it is not done together."""
        self.actors.append(threads)
        self.several += several
        yield
        self.several -= several
        self.actors.pop()

    def repeated(self) -> int:
        """How often what is being traced is done: by each of the threads that are here, unless they share the iterations of a
        parallel loop."""
        alone = self.lone or self.open.plain or self.open.thread is not None or self.parallel
        return 1 if alone else self.acting

    def ask_for_threads(self) -> None:
        """What only each thread can do for itself stands under a condition that several threads fulfil."""
        if self.several and self.open.thread is None:
            self.begin_single()

    def begin_single(self) -> None:
        """Code of single threads begins: here, between the roles of a kernel; else the kernel or the role is traced again."""
        if self.path or (len(self.launches), "parts") not in self.threaded:
            raise NeedsThreads((len(self.launches), tuple(self.path)))
        if self.parallel:
            raise error(ValueError, "the index of a thread in a T.Parallel loop, whose iterations belong to no thread")
        self.part = len(self.regions)
        self._know_thread(Val(self.native.threads_begin(math.prod(self.open.threads))))

    def settled(self, value: Any, indices: Sequence[Any] = ()) -> Any:
        """A value that is to be stored, computed before it is decided who stores it: it may be one of single threads."""
        if self.open.thread is None and not self.path and (len(self.launches), "parts") in self.threaded:
            value = value.number() if isinstance(value, ThreadNumber) else read(value)
            if any(isinstance(index, ThreadNumber) for index in indices):
                self.begin_single()
        return value

    def end_single(self) -> None:
        """Ends such code of single threads, if it began in the region that is open."""
        if self.part == len(self.regions):
            self.native.threads_end()
            self.open.thread = self.part = None

    @contextlib.contextmanager
    def region(self, kind: str, line: int) -> Iterator[None]:
        with super().region(kind, line):  # type: ignore[misc]
            yield
            self.end_single()

    def thread_index(self, dim: int) -> Any:
        """The index of a thread along an axis, in code of single threads."""
        if self.open.thread is None:
            self.begin_single()
        return self.open.thread_indices[dim]

    def give_rows(self, memory: Memory, native: Callable[[Sequence[int]], Any]) -> None:
        """Memory that each thread has for itself, allocated outside of code of single threads. Where some role uses it in such
        code, it has a row for each thread of the block."""
        place = len(self.launches), len(self.open.kept_by_threads)
        self.open.kept_by_threads.append(memory)
        if place not in self.threaded:
            memory.rows_at = place
            return self._give_copies(memory, place, native)
        shape = (math.prod(self.open.threads), *memory.shape)
        rows = Memory(shape, memory.dtype, "shared", memory.name)
        rows.native = native(shape)
        self.keep_in_phases(rows)
        self.open.layouts[id(memory)] = lambda part: self._row(rows, part.indices)

    def give_copies(self, memory: Memory, native: Callable[[Sequence[int]], Any]) -> None:
        """Memory that all threads have together, each its part, allocated outside of code of single threads."""
        self.open.kept_by_threads.append(memory)
        self._give_copies(memory, (len(self.launches), len(self.open.kept_by_threads) - 1), native)

    def _give_copies(self, memory: Memory, place: tuple[int, int], native: Callable[[Sequence[int]], Any]) -> None:
        memory.kept_at, memory.kept_in, memory.uses = place, len(self.path), {}
        memory.native = native(memory.shape)
        self.keep_in_phases(memory)
        if roles := sorted(span for at, span in self.threaded if at == place):
            self.open.layouts[id(memory)] = Copies(self, memory, roles, native)

    def copies_of(self, memory: Memory) -> Copies | None:
        place = self.open.layouts.get(id(memory))
        return place if isinstance(place, Copies) else None

    def user_of(self, memory: Memory) -> Span:
        """The threads of the role that is open, if what is for each thread lies outside of it, else ()."""
        return tuple(self.acting_threads) if len(self.path) > memory.kept_in else ()

    def check_rows(self, memory: Memory, stores: bool = False) -> None:
        """Refuses single threads what all of them have as one, roles what another one changes, and everybody what another launch
        had."""
        if memory.launch is not None and memory.launch is not self.open:
            raise error(
                RuntimeError,
                f"`{memory.label()}` is a buffer of another launch: it was allocated outside of this T.Kernel",
                hint="allocate it inside `with T.Kernel(...)`; T.alloc_global gives memory that outlives a launch",
            )
        if memory.rows_at is not None and self.open.thread is not None:
            raise NeedsRows(memory.rows_at)
        if memory.kept_at is not None and (here := self.user_of(memory)):
            memory.uses[here] = stores or memory.uses.get(here, False)
            for one, other in itertools.permutations(memory.uses, 2):
                part = not rest(one, intersection(one, other))  # of the other one's threads: what it reads is theirs
                if memory.uses[other] and not (part and not memory.uses[one]):
                    raise NeedsCopies((memory.kept_at, other))

    def _row(self, rows: Memory, indices: Sequence[Any]) -> Any:
        """An element of what each thread has, that of the threads which are here."""
        if self.open.thread is not None:
            return Element(rows, [self.open.thread, *indices])
        return Rows(self, rows, indices)

    @contextlib.contextmanager
    def role(self, ranges: Sequence[tuple[int, int]]) -> Iterator[None]:
        """What the threads in some ranges do: beside the others; in code of single threads under a branch on their number."""
        if not self._begins_role():
            index = self.open.thread
            here = [binary("and", binary(">=", index, first), binary("<", index, end)) for first, end in ranges]
            self.native.if_begin(self.condition(functools.reduce(lambda a, b: binary("or", a, b), here)))
            with self.region("if", self.line()):
                yield
            self.native.if_else()
            self.native.if_end([], [])
            return
        self.begin_role(ranges)
        yield
        self.end_role()

    def _begins_role(self) -> bool:
        """Roles are of a whole block, or of another role."""
        self.end_single()
        if self.open.thread is not None and not self.path and self.part is None:
            raise NeedsThreads((len(self.launches), "parts"))
        return self.open.thread is None

    def begin_role(self, ranges: Sequence[tuple[int, int]]) -> None:
        """What the threads in some ranges (first, end) do beside the others, until end_role."""
        count = sum(end - first for first, end in ranges)
        self.path.append(self.begun[-1])
        self.begun[-1] += 1
        self.begun.append(0)
        self.spans.append(list(ranges))
        self.native.role_begin([bound for part in ranges for bound in part])
        self.roles.append(count)
        self.actors.append(count)
        if (len(self.launches), tuple(self.path)) in self.threaded:
            index = thread = Val(self.native.threads_begin(count))
            before = 0  # threads of the ranges so far
            for first, end in ranges:
                here = binary("+", thread, first - before) if first != before else thread
                index = select(binary(">=", thread, before), here, index) if before else here
                before += end - first
            self._know_thread(index)

    def end_role(self) -> None:
        if self.open.thread is not None:
            self.native.threads_end()
            self.open.thread = None
        self.begun.pop()
        self.path.pop()
        self.actors.pop()
        self.roles.pop()
        self.spans.pop()
        self.native.role_end()

    def run_roles(self, test: RoleCondition, sides: Any, names: Names, get: Getter, put: Putter) -> None:
        """A branch on the index of the thread: what the threads do for which it holds, and what the others do."""
        before, ends = get(), []
        chosen = intersection(self.acting_threads, test.ranges)
        for ranges, side in zip((chosen, rest(self.acting_threads, chosen)), sides):
            if not ranges:
                continue
            several = sum(end - first for first, end in ranges) > 1
            self.begin_role(ranges)
            self.several += several
            with self.region("if", self.line()):
                side()
            self.several -= several
            ends.append(get())
            put(list(before))
            self.end_role()
        self._leave(names, get, put, before, *ends)

    def of_these_threads(self, test: Any) -> Any:
        """A condition in code of single threads: True or False where it is for all that are here."""
        if not isinstance(test, RoleCondition):
            return test
        chosen = intersection(self.acting_threads, test.ranges)
        return bool(chosen) if not chosen or not rest(self.acting_threads, chosen) else test

    def begin_threads(self) -> None:
        """The body of the open kernel runs in each thread of the block, where the program has asked for that. Counters begin of
        waits at barriers with numbers."""
        self.path, self.begun = [], [0]
        for launch, what in sorted(self.threaded, key=repr):
            if launch == len(self.launches) and isinstance(what, tuple) and what[:1] == ("rounds",):
                counter = self.open.rounds[what] = Memory((1,), "int32", "shared")
                counter.native = self.native.alloc((1,), "int32", "shared")
                Element(counter, [0]).store(0)
        self.part = None
        if (len(self.launches), ()) in self.threaded and (len(self.launches), "parts") not in self.threaded:
            self._know_thread(Val(self.native.threads_begin(math.prod(self.open.threads))))

    def _know_thread(self, thread: Val) -> None:
        """What follows runs in each thread, whose number in the block this is."""
        extents = self.open.threads
        self.open.thread = thread
        for dim, extent in enumerate(extents):
            index, inner = thread, math.prod(extents[:dim])
            if inner > 1:
                index = binary("//", index, inner)
            if math.prod(extents[dim + 1 :]) > 1:
                index = binary("%", index, extent)
            self.open.thread_indices[dim] = index if extent > 1 else 0

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What all threads do once together; where there are no threads, as it stands."""
        inside = self.native.in_threads()
        if inside:
            self.native.together_begin()
        yield
        if inside:
            self.native.together_end([])

    def together_value(self, compute: Callable[[], Any]) -> Val:
        """What all threads compute once together."""
        if not self.native.in_threads():
            return Val(compute())
        self.native.together_begin()
        return Val(self.native.together_end([compute()])[0])


class Copies:
    """What each thread has, and roles change for themselves: one of its own for each of these, and one for all other threads."""

    def __init__(self, trace: Roles, memory: Memory, roles: Sequence[Span], native: Callable[[Sequence[int]], Any]) -> None:
        self.trace, self.memory, self.of = trace, memory, {}
        self.unshared = ""  # what outside of roles changed the one for all other threads alone
        for span in ((), *roles):
            own = self.of[span] = Memory(memory.shape, memory.dtype, memory.scope_name, memory.name)
            own.native = native(memory.shape) if span else memory.native
            trace.keep_in_phases(own)

    def here(self, stores: bool) -> list[Memory]:
        """Those of the threads that are here, the one that is read first. Outside of roles that is any role's: where they differ,
        there is no one value."""
        if self.trace.open.thread is not None and self.memory.rows_at is not None:
            raise NeedsRows(self.memory.rows_at)
        if self.unshared:
            raise error(
                NotImplementedError,
                f"`{self.memory.label()}`, which roles change for themselves, is changed outside of them by {self.unshared}",
                hint="allocate one in each role, or fill it or copy to it before the roles",
            )
        user = self.trace.user_of(self.memory)
        if not user:
            return [*list(self.of.values())[1:], self.of[()]]
        if user not in self.of and stores:
            raise NeedsCopies((self.memory.kept_at, user))
        around = [span for span in self.of if span and not rest(user, intersection(user, span))]
        return [self.of[user if user in self.of else around[0] if around else ()]]

    def share(self) -> None:
        """All get what the one for all other threads has."""
        self.unshared, (first, *others) = "", self.of.values()
        for own in others:
            copy(first, own)

    def __call__(self, part: Element) -> Element:
        return Copied(self, part.indices)


class Copied(Element):
    """An element of what roles have copies of."""

    __slots__ = ("copies",)

    def __init__(self, copies: Copies, indices: Sequence[Any]) -> None:
        super().__init__(copies.of[()], indices)
        self.copies = copies

    def read(self) -> Val:
        return Element(self.copies.here(stores=False)[0], self.indices).read()

    def store(self, value: Any) -> None:
        value = read(value)
        for own in self.copies.here(stores=True):
            Element(own, self.indices).store(value)


class Rows(Element):
    """An element of what each thread of the block has, where the threads that are here act as one: they have the same."""

    __slots__ = ("trace",)

    def __init__(self, trace: Roles, memory: Memory, indices: Sequence[Any]) -> None:
        super().__init__(memory, [trace.acting_threads[0][0], *indices])
        self.trace = trace

    def store(self, value: Any) -> None:
        self.trace.ask_for_threads()
        value = read(value)
        for first, end in self.trace.acting_threads:
            (row,) = self.trace.native.parallel_begin([end - first])
            Element(self.memory, [binary("+", Val(row), first), *self.indices[1:]]).store(value)
            self.trace.native.parallel_end()
