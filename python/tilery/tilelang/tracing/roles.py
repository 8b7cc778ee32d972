"""Who does what is being traced: all threads of a block together, some of them, or each for itself."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import error
from ...frontend.regions import Getter, Names, Putter
from .context import NeedsThreads
from .thread_index import Ranges, RoleCondition, intersection, rest
from .values import Val, binary


class Roles:
    """The part of a trace that knows which threads do what is being traced."""

    native: Any
    open: Any
    region: Any
    line: Any
    _leave: Any
    several: int
    launches: Any
    threaded: set[int]
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

    def ask_for_threads(self) -> None:
        """What only each thread can do for itself stands under a condition that several threads fulfil."""
        if self.several and self.open.thread is None:
            raise NeedsThreads(len(self.launches))

    def begin_role(self, ranges: Sequence[tuple[int, int]]) -> None:
        """What the threads in some ranges (first, end) do beside the others, until end_role."""
        self.check_no_threads("a role of warp groups")
        count = sum(end - first for first, end in ranges)
        self.spans.append(list(ranges))
        self.native.role_begin([bound for part in ranges for bound in part])
        self.roles.append(count)
        self.actors.append(count)

    def check_no_threads(self, what: str) -> None:
        """Roles and single threads are two ways to say who does what; a kernel has one."""
        if self.open.thread is not None:
            raise error(
                NotImplementedError,
                f"{what} in a kernel whose statements depend on the thread",
                hint="use T.sync_threads between threads; or write the kernel without thread indices, but for `if tx == 0:`",
            )

    def end_role(self) -> None:
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

    def begin_threads(self) -> None:
        """The body of the open kernel runs in each thread of the block, where the program has asked for that."""
        if len(self.launches) in self.threaded:
            extents = self.open.threads
            self.open.thread = Val(self.native.threads_begin(math.prod(extents)))
            for dim, extent in enumerate(extents):
                index, inner = self.open.thread, math.prod(extents[:dim])
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
