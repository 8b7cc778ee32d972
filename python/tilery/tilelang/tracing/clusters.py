"""Blocks of a cluster that write to each other's shared memory and arrive at each other's barriers. Each wait for another block
is a meeting of all (phases.py): what a block sends lies in tensors of the call until then."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from .context import NeedsInbox
from .memory import Element, Memory, Region, fill
from .values import Val, binary


class Inbox:
    """What others send to a buffer of each block: elements, and which of them have come."""

    def __init__(self, memory: Memory, elements: Memory, marks: Memory) -> None:
        self.memory, self.elements, self.marks = memory, elements, marks


class Clusters:
    """The part of a trace that knows what blocks of a cluster send to each other."""

    native: Any
    open: Any
    launches: Any
    regions: Any
    threaded: Any
    roles: Any
    workspace: Any
    block: Any
    meet: Any
    sides: list[tuple[Any, bool, bool]]  # (condition, is it the other side, is nothing carried) of each open branch

    @property
    def remote(self) -> bool:
        """Do blocks of the open kernel send something to each other?"""
        return (len(self.launches), "remote") in self.threaded

    def arrived_elsewhere(self) -> None:
        """A block arrives at a barrier of its cluster."""
        if not self.remote:
            raise NeedsInbox((len(self.launches), "remote"))
        self.open.arrivals += 1

    def add_inbox(self, memory: Memory, number: int) -> None:
        """Makes a buffer ready for what others send, if they do."""
        if (len(self.launches), f"inbox {number}") not in self.threaded:
            return
        shape = [*self.open.grid, *memory.shape]
        inbox = Inbox(
            memory,
            self.workspace(("sent", number), shape, memory.dtype),
            self.workspace(("marks", number), shape, "int32"),
        )
        self.open.inboxes[id(memory)] = inbox
        fill(memory, 0)  # it is saved as a whole
        fill(Region(inbox.marks, [*self.block(), *[0] * memory.ndim], [*[1] * len(self.open.grid), *memory.shape]), 0)

    def send(self, src: Any, dst: Region, target: Sequence[Any], copy: Callable[[Any, Any], None]) -> None:
        """Copies a region into the inbox of a block's buffer. target: the coordinates of that block."""
        memory = dst.memory
        self.arrived_elsewhere()
        inbox = self.open.inboxes.get(id(memory))
        if inbox is None:
            number = next((n for n, other in enumerate(self.open.buffers) if other is memory), None)
            if number is None or "shared" not in memory.scope_name:
                what = f"blocks of a cluster send nothing to `{memory.label()}`"
                raise error(ValueError, what, hint="it is no shared buffer of the kernel")
            raise NeedsInbox((len(self.launches), f"inbox {number}"))
        places, sizes = [*target, *dst.starts], [*[1] * len(target), *dst.extents]
        copy(src, Region(inbox.elements, places, sizes))
        fill(Region(inbox.marks, places, sizes), 1)
        self.open.sent = True

    def wait_for_cluster(self, what: str, must_have_come: bool) -> None:
        """All blocks go on once what was sent so far has come. must_have_come: some block waits for an arrival."""
        if self.roles or any(region.kind == "for" for region in self.regions):
            if self.roles:
                raise error(NotImplementedError, f"{what} in a role of warp groups", hint="let all threads of the block wait")
            return self.meet(what)  # which takes the loop apart
        if must_have_come and not self.open.arrivals:
            raise error(
                NotImplementedError,
                f"{what} stands before what it waits for",
                hint="write the arrivals, or copies into other blocks, above the wait for them",
            )
        sides = list(self.sides)
        if len(sides) != len(self.regions) or len(sides) > 1 or any(not plain for _, _, plain in sides):
            raise error(NotImplementedError, f"{what} under several conditions of the run", hint="one branch may stand around it")
        for _, other, _ in sides:
            if not other:
                self.native.if_else()
            self.native.if_end([], [])
        around, self.regions[:] = list(self.regions), []
        try:
            self.meet(what)
            for inbox in self.open.inboxes.values():
                self._deliver(inbox)
        finally:
            self.regions[:] = around
        for condition, other, _ in sides:
            self.native.if_begin(condition)
            if other:
                self.native.if_else()
        self.open.arrivals, self.open.sent = 0, False

    def _deliver(self, inbox: Inbox) -> None:
        block = self.block()
        indices = [Val(index) for index in self.native.parallel_begin(list(inbox.memory.shape))]
        mark = Element(inbox.marks, [*block, *indices])
        self.native.if_begin(binary("!=", mark.read(), 0))
        Element(inbox.memory, indices).store(Element(inbox.elements, [*block, *indices]).read())
        mark.store(0)
        self.native.if_else()
        self.native.if_end([], [])
        self.native.parallel_end()

    def check_sent(self) -> None:
        """At the end of a kernel: what was sent has been waited for."""
        if self.open.sent:
            raise error(
                NotImplementedError,
                "a copy into another block that nobody waits for after it",
                hint="write the waits, or T.cluster_sync, below the copies that they wait for",
            )


def rank_places(rank: Any, dims: Sequence[int]) -> list[Any]:
    """Where the block of a number stands in its cluster, x fastest."""
    places, inner = [], 1
    for size in dims:
        place = rank if inner == 1 else binary("//", rank, inner)
        places.append(binary("%", place, size) if math.prod(dims) > inner * size else place)
        inner *= size
    return places
