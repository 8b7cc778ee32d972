"""One configuration of a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .rasterization import NoRasterization, Rasterization


@dataclass
class Hint:
    """`block`: the tile of the result; `warp`: a warp's share of it; `rstep`: the step along what is summed; `thread`: threads
    of a block where there are no matrix instructions."""

    arch: Any = None
    use_tc: bool = False
    block: list[int] = field(default_factory=list)
    thread: list[int] = field(default_factory=list)
    warp: list[int] = field(default_factory=list)
    rstep: list[int] = field(default_factory=list)
    reduce_thread: list[int] = field(default_factory=list)
    pipeline_stage: int = 1
    use_async: bool = False
    vectorize: dict[str, int] = field(default_factory=dict)
    rasterization_plan: Rasterization = field(default_factory=NoRasterization)
    block_order: Any = None
    seconds: float = 0.0  # what the model expects

    def to_dict(self) -> dict[str, Any]:
        names = ("block", "thread", "warp", "rstep", "reduce_thread", "pipeline_stage", "use_async", "vectorize")
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    def __repr__(self) -> str:
        return str(self.to_dict())
