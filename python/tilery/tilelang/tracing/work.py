"""Work that is counted while a function is traced."""

from __future__ import annotations

import math
from typing import Any

from ...errors import error


class Work:
    """What a function's tile operations compute and move, all blocks and iterations together."""

    def __init__(self) -> None:
        self.flops, self.bytes = 0, 0
        self.times: list[Any] = []  # how often what is being traced is done: the grid and the loops around

    def repeated(self) -> int:
        if not all(isinstance(n, int) for n in self.times):
            raise error(ValueError, "the work of loops and grids of run-time extents cannot be counted")
        return math.prod(self.times)
