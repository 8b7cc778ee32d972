"""How a launch's programs fill the processors of its machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tilery import _native

from ...frontend.source import tree_of

SHORT = 0.05  # milliseconds: of shorter launches, launching itself is a large part
NEAR = 0.5  # a share of the roofline
ENOUGH = 0.75  # from which nothing in the source can be much of the time
LARGE = 0.25  # a share of the time that functions take by themselves
FEW_UPDATES = 0.05  # a share of the bytes that programs ask for
_MANY = 64  # programs for each processor
_FEW_BYTES, _FEW_OPERATIONS = 512, 1024
_PROGRAMS = {"tilelang": ": `with T.Kernel(n) as i` around them runs n, a function without it one"}  # where that says how
LAUNCH = (0.01, 0.03)  # of such, on a CPU and on a GPU, it is most


@dataclass(frozen=True)
class Place:
    """As `_native.SourceLocation`."""

    file: str
    line: int
    col: int
    function: str


@dataclass(frozen=True, repr=False)
class Finding:
    """As `_native.Finding`: fault, message, what to change, and the place with its callers."""

    fault: str
    message: str
    hint: str
    chain: Sequence[Any] = field(default_factory=list)

    def __repr__(self) -> str:
        place = f"{self.chain[0].file}:{self.chain[0].line}: " if self.chain else ""
        return f"<{place}{self.fault}: {self.message}>"


def processors_of(device: int) -> int:
    """Of a GPU its multiprocessors, of the CPU (-1) the threads that run programs."""
    return int(_native.num_threads() if device < 0 else _native.gpu_properties(device)["multiprocessors"])


def idle(grids: Sequence[Sequence[int]], processors: int, milliseconds: float | None, device: int, kernel: Any) -> list[Finding]:
    """A finding if half of the processors or more get no program in a launch that is not short. `grids`: of the kernels that it
    runs one after another; the largest counts."""
    programs = max((math.prod(grid) for grid in grids), default=0)
    if not programs or 2 * programs > processors or milliseconds is None or milliseconds < SHORT:
        return []
    what = "threads" if device < 0 else "multiprocessors"
    run = "one program runs" if programs == 1 else f"{programs} programs run"
    return [
        Finding(
            "grid",
            f"{run} where {processors} {what} could: the others have nothing to do",
            "take smaller tiles, or deal a loop's turns to several programs" + _PROGRAMS.get(getattr(kernel, "language", ""), ""),
            definition(kernel),
        )
    ]


def small(programs: int, moved: float, operations: float, device: int, kernel: Any) -> list[Finding]:
    """A finding if most of a launch that is far from what the machine allows must be the beginning and the end of its programs.
    moved: bytes, of all programs, as `operations`."""
    if programs < _MANY * processors_of(device) or moved >= _FEW_BYTES * programs or operations >= _FEW_OPERATIONS * programs:
        return []
    return [
        Finding(
            "grid",
            f"each of {programs} programs moves {moved / programs:.0f} bytes: "
            "to begin one and to end it takes longer than its work",
            "take larger tiles (1024 elements and more), so that fewer programs do the same",
            definition(kernel),
        )
    ]


def definition(kernel: Any) -> list[Place]:
    """Where the kernel's function begins; nothing where it has no text."""
    function = getattr(kernel, "function", None)
    try:
        found = tree_of(function)
    except Exception:  # it has no text
        return []
    return [Place(function.__code__.co_filename, found.lineno, found.col_offset + 1, function.__name__)]
