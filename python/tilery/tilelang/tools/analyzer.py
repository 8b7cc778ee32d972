"""What a function computes and moves, counted while it is traced."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import error
from ..carver.arch import TileDevice, auto_infer_current_arch
from ..language.eager.builder import PrimFunc
from ..tracing import program
from ..tvm.module import IRModule


@dataclass(frozen=True)
class AnalysisResult:
    """Of all blocks together: products and sums of T.gemm, bytes that T.copy moves from and to tensors, and the seconds that a
    device needs at the least."""

    total_flops: int
    total_global_bytes: int
    estimated_time: float
    expected_tflops: float
    expected_bandwidth_GBps: float


class Analyzer:
    """`Analyzer.analysis(function, device)`."""

    @classmethod
    def analysis(cls, fn: PrimFunc | IRModule, device: TileDevice | None = None) -> AnalysisResult:
        """Loops and grids must have extents known at compile time."""
        function = next(iter(fn.functions.values())) if isinstance(fn, IRModule) else fn
        if not isinstance(function, PrimFunc):
            raise error(TypeError, f"Analyzer takes a function decorated with @T.prim_func, got {type(function).__name__}")
        device = device or auto_infer_current_arch()
        counted = program.count(function)
        seconds = max(counted.flops / (device.tflops * 1e12), counted.bytes / (device.bandwidth[0] * 1e9))
        seconds = seconds or math.inf
        return AnalysisResult(
            counted.flops, counted.bytes, seconds, counted.flops / seconds / 1e12, counted.bytes / seconds / 1e9
        )
