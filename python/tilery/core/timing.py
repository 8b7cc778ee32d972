"""How long a call takes: what the languages' do_bench and tuners measure with."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tilery import _native

from ..errors import error
from ..frontend.wording import shown
from .checks import amount
from .present import present

_SUMMARIES: dict[str, Callable[[list[float]], Any]] = {
    "mean": lambda times: sum(times) / len(times),
    "median": lambda times: quantile(times, 0.5),
    "min": min,
    "max": max,
    "all": list,
}


def quantile(times: Iterable[float], q: float) -> float:
    """Between the two nearest times, by linear interpolation."""
    times = sorted(times)
    position = q * (len(times) - 1)
    low = int(position)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (position - low)


def time_call(fn: Callable[[], Any]) -> float:
    """Milliseconds of one call and of the work it started on a GPU, whose launches return before that is done."""
    torch = present("torch")
    wait = torch.cuda.synchronize if torch is not None and torch.cuda.is_initialized() else None
    if wait:
        wait()
    start = time.perf_counter()
    fn()
    if wait:
        wait()
    return (time.perf_counter() - start) * 1e3


def measure(
    fn: Callable[[], Any],
    warmup: float,
    rep: float,
    mode: str = "mean",
    quantiles: Sequence[float] | None = None,
    calls: tuple[int, int] = (0, 0),
    before: Callable[[], Any] = lambda: None,
    share: int = 1,
    clock: Callable[[Callable[[], Any]], float] | None = None,
) -> float | list[float]:
    """Milliseconds a call of fn takes, summed up by `mode` or as the given quantiles (one alone as a number). warmup and rep are
    budgets in milliseconds; `calls` are numbers of calls instead of them, where not 0. before() runs ahead of each timed call.
    A call of fn is `share` calls of what is timed. clock(fn) calls it and gives milliseconds, other than those of the whole
    call."""
    if not callable(fn):
        message = f"what is timed is {shown(fn)}; a function is expected"
        raise error(TypeError, message, hint="write do_bench(lambda: kernel(x, y))")
    warmup, rep = amount("`warmup`", warmup, "milliseconds"), amount("`rep`", rep, "milliseconds")
    if mode not in _SUMMARIES:
        raise error(ValueError, f"unknown return_mode {mode!r}", hint="known: " + ", ".join(_SUMMARIES))
    clock = clock or time_call
    with unrecorded():
        fn()
        once = max(time_call(fn), 1e-4)
        for _ in range(calls[0] or max(1, int(warmup / once))):
            fn()
        times = []
        for _ in range(calls[1] or max(1, int(rep / once))):
            before()
            times.append(clock(fn) / share)
    if quantiles is not None:
        found = [quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    return _SUMMARIES[mode](times)


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """What is timed within is no launch of the program's own: a recorder of launches says in `while_timing` what takes its place.
    One that has no such attribute makes launches later, so that nothing can be timed.

    :raises tilery.RuntimeError: launches are being captured."""
    record = _native.record_launches(None)
    try:
        if record is not None:
            if not hasattr(record, "while_timing"):
                message = "CUDA error: operation not permitted when stream is capturing: timing of a call"
                raise error(RuntimeError, message, hint="call it once before the capture, so that it is tuned")
            _native.record_launches(record.while_timing)
        yield
    finally:
        _native.record_launches(record)
