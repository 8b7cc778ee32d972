"""Timing of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.timing import measure
from ...errors import error


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    _n_warmup: int = 0,
    _n_repeat: int = 0,
    quantiles: Sequence[float] | None = None,
    fast_flush: bool = True,
    backend: str = "event",
    return_mode: str = "mean",
    device: Any = None,
    early_stop_baseline: float | None = None,
) -> float | list[float]:
    """Milliseconds a call of fn takes; warmup and rep are budgets in milliseconds. Every back end times in one way."""
    if backend not in ("event", "cupti", "cudagraph"):
        raise error(ValueError, f"do_bench has no backend {backend!r}", hint="known: event, cupti, cudagraph")
    return measure(fn, warmup, rep, return_mode, quantiles, calls=(_n_warmup, _n_repeat))
