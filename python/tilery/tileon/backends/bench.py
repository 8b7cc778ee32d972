"""How long a call takes, as programs ask."""

from __future__ import annotations

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
) -> float | list[float]:
    """Milliseconds a call takes: mean, or median, min, max, all, or the given quantiles. warmup and rep are milliseconds."""

    def clear() -> None:
        for x in grad_to_none or ():
            x.grad = None

    return measure(fn, warmup, rep, mode or return_mode, quantiles, before=clear)
