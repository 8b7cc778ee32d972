"""What configurations cost by a model, so that only the best of them are timed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import Error
from ..carver.arch import TileDevice, auto_infer_current_arch, is_cuda_arch
from ..language.eager.builder import PrimFunc
from ..tracing import program

# So many of the best by the model are timed, and all that the model finds within this factor of the best one, up to the
# second number.
TIMED, NEAR, MOST_TIMED = 4, 1.1, 8
_LAUNCH, _BLOCK = 3e-6, 1e-6  # seconds that a launch, and a block on one core, take beside their work


def seconds(function: PrimFunc, device: TileDevice | None = None) -> float | None:
    """What a call takes by the model: products, bytes that copies move, and blocks that do not fill the machine. None where
    loops or grids have extents known at run time only; infinity where a block does not fit."""
    device = device or auto_infer_current_arch()
    try:
        work = program.count(function)
    except Error:
        return None
    busy = max(work.flops / (device.tflops * 1e12), work.bytes / (device.bandwidth[0] * 1e9))
    total = sum(launch.blocks() for launch in work.launches)
    waste = 0.0
    for launch in work.launches:
        blocks, cores = launch.blocks(), device.compute_max_core
        if is_cuda_arch(device) and launch.shared * launch.stages > device.max_smem_usage:
            return math.inf
        # Blocks are shared evenly among the cores; the last round leaves some of them idle.
        waste += busy * blocks / total * (math.ceil(blocks / cores) * cores / blocks - 1) + _LAUNCH
        waste += 0.0 if is_cuda_arch(device) else _BLOCK * blocks / cores
    return busy + waste


def worth_timing(functions: Sequence[Any], device: TileDevice | None = None) -> list[int]:
    """Positions of the functions to time, in their order: all where there are few, or where one cannot be modelled."""
    if len(functions) <= TIMED:
        return list(range(len(functions)))
    costs = [seconds(function, device) for function in functions]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or not known:
        return list(range(len(functions)))
    order = sorted(range(len(costs)), key=lambda position: (known[position], position))
    best = known[order[0]]
    near = [position for position in order if known[position] <= NEAR * best]
    chosen = order[: max(TIMED, min(len(near), MOST_TIMED))]
    return sorted(position for position in chosen if known[position] < math.inf) or list(range(len(functions)))
