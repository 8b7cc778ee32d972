"""How long a call takes, as programs ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core.timing import measure


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    mode: str | None = None,
    measure_time_with_hooks: bool = False,
) -> float | list[float]:
    """Milliseconds a call takes: mean, or median, min, max, all, or the given quantiles. warmup and rep are milliseconds.
    measure_time_with_hooks: only what passes within the launches of kernels."""

    def clear() -> None:
        for x in grad_to_none or ():
            x.grad = None

    clock = _in_launches if measure_time_with_hooks else None
    return measure(fn, warmup, rep, mode or return_mode, quantiles, before=clear, clock=clock)


def _in_launches(fn: Callable[[], Any]) -> float:
    """Milliseconds of a call between the functions that are called before and after launches."""
    from ..knobs import runtime

    spent, begun = 0.0, 0.0

    def enter(_: Any) -> None:
        nonlocal begun
        begun = time.perf_counter()

    def leave(_: Any) -> None:
        nonlocal spent
        spent += time.perf_counter() - begun

    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)
    try:
        fn()
    finally:
        runtime.launch_enter_hook.remove(enter)
        runtime.launch_exit_hook.remove(leave)
    return spent * 1e3
