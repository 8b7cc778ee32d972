"""Kernels whose blocks all meet (`T.sync_grid`): each part between two meetings is a launch of its own. What a block has in its
buffers is saved in tensors of the call."""

from __future__ import annotations

import itertools
import math
from typing import Any

from tilery import _native

from ...errors import error
from .context import NeedsTurns
from .loops import Serial
from .memory import Element, Memory, Region, copied_regions
from .values import Val


class NeedsWorkspace(BaseException):
    """A block's memory that needs a workspace, which must be there before the kernel. No Exception: those become the user's
    errors."""

    def __init__(self, key: tuple[Any, ...], shape: list[Any], element: Any) -> None:
        super().__init__()
        self.key, self.shape, self.element = key, shape, element


class Phases:
    """The part of a trace that knows where all blocks meet."""

    native: Any
    open: Any
    launches: Any
    regions: Any
    line: Any
    threaded: Any
    workspaces: Any
    add_inbox: Any

    def keep_in_phases(self, memory: Memory) -> None:
        """A buffer of the kernel, which lasts where it is allocated outside of loops and branches."""
        if not self.regions:
            self.open.buffers.append(memory)
            self.add_inbox(memory, len(self.open.buffers) - 1)

    def taken_apart(self, loop: Any) -> range | None:
        """The numbers that a loop counts in which all blocks meet; None: it is another loop."""
        if (len(self.launches), f"loop {self.line()}") not in self.threaded:
            return None
        bounds = loop.bounds() if isinstance(loop, Serial) else ()
        if not bounds or not all(isinstance(bound, int) for bound in bounds):
            raise error(
                NotImplementedError,
                "all blocks meet in a loop whose number of turns is known at run time only",
                hint="give it constant bounds, or launch a kernel for each turn",
            )
        return range(*bounds)

    def meet(self, what: str = "T.sync_grid") -> None:
        """All blocks of the launch meet."""
        for region in self.regions:
            if region.kind != "for":
                raise error(
                    NotImplementedError, f"{what} under a condition of the run", hint="all blocks reach it: move it out"
                )
            raise NeedsTurns((len(self.launches), f"loop {region.place}"))
        used = [entry for entry in enumerate(self.open.buffers) if self.native.buffer_used(entry[1].native)]
        saved = [self._saved(number, memory) for number, memory in used]
        for memory, places in saved:
            self._move(memory, places, True)
        self.native.meet()
        self.open.phases += 1
        for memory, places in saved:
            self._move(memory, places, False)

    def _saved(self, number: int, memory: Memory) -> tuple[Memory, Memory]:
        """A buffer, and the workspace that keeps it for all blocks."""
        own = [math.prod(self.open.threads)] if self._of_threads(memory) else []
        return memory, self.workspace(("phase", number), [*self.open.grid, *own, *memory.shape], memory.dtype)

    def workspace(self, name: tuple[Any, ...], shape: list[Any], element: Any) -> Memory:
        """Memory of the open kernel's launch."""
        key = len(self.launches), *name
        if key not in self.workspaces:
            raise NeedsWorkspace(key, shape, element)
        return self.workspaces[key]

    def block(self) -> list[Any]:
        """The coordinates of the block."""
        return [Val(self.native.program_id(axis)) for axis in range(len(self.open.grid))]

    def _of_threads(self, memory: Memory) -> bool:
        return self.open.thread is not None and memory.scope_name.startswith("local") and memory.scope_name != "local.fragment"

    def _move(self, memory: Memory, workspace: Memory, saves: bool) -> None:
        place = self.block()
        if self._of_threads(memory):
            for indices in itertools.product(*map(range, memory.shape)):
                own, kept = Element(memory, indices), Element(workspace, [*place, self.open.thread, *indices])
                (kept if saves else own).store((own if saves else kept).read())
            return
        starts, extents = [*place, *[0] * memory.ndim], [*[1] * len(place), *memory.shape]
        sides: list[Any] = [memory, Region(workspace, starts, extents)]
        if not saves:
            sides.reverse()
        _native.copy_region(self.native, *copied_regions(self, *sides, "T.sync_grid"), None)
