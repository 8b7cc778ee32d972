"""Work that is counted while a function is traced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import error


class Launch:
    """One kernel's launch: its grid, threads of a block, bytes of shared memory, and the most stages of a loop."""

    def __init__(self, grid: Sequence[Any], threads: int) -> None:
        self.grid, self.threads, self.shared, self.stages = list(grid), threads, 0, 1

    def blocks(self) -> int:
        """How many blocks run."""
        if not all(isinstance(n, int) for n in self.grid):
            raise error(ValueError, "the blocks of a grid of run-time extents cannot be counted")
        return math.prod(self.grid)


class Work:
    """What a function's tile operations compute and move, all blocks and iterations together."""

    def __init__(self) -> None:
        self.flops, self.bytes = 0, 0
        self.launches: list[Launch] = []
        self.times: list[Any] = []  # how often what is being traced is done: the grid and the loops around

    def repeated(self) -> int:
        if not all(isinstance(n, int) for n in self.times):
            raise error(ValueError, "the work of loops and grids of run-time extents cannot be counted")
        return math.prod(self.times)
