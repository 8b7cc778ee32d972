"""How long a call takes: what the languages' do_bench and tuners measure with."""

import sys
import time

from ..errors import error

_SUMMARIES = {
    "mean": lambda times: sum(times) / len(times),
    "median": lambda times: quantile(times, 0.5),
    "min": min,
    "max": max,
    "all": list,
}


def quantile(times, q):
    """Between the two nearest times, by linear interpolation."""
    times = sorted(times)
    position = q * (len(times) - 1)
    low = int(position)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (position - low)


def _call(fn):
    """Milliseconds of one call and of the work it started on a GPU, whose launches return before that is done."""
    torch = sys.modules.get("torch")
    wait = torch.cuda.synchronize if torch is not None and torch.cuda.is_initialized() else None
    if wait:
        wait()
    start = time.perf_counter()
    fn()
    if wait:
        wait()
    return (time.perf_counter() - start) * 1e3


def measure(fn, warmup, rep, mode="mean", quantiles=None, calls=(0, 0), before=lambda: None):
    """Milliseconds a call of fn takes, summed up by `mode` or as the given quantiles (one alone as a number). warmup and rep are
    budgets in milliseconds; `calls` are numbers of calls instead of them, where not 0. before() runs ahead of each timed call."""
    if mode not in _SUMMARIES:
        raise error(ValueError, f"unknown return_mode {mode!r}", hint="known: " + ", ".join(_SUMMARIES))
    fn()
    once = max(_call(fn), 1e-4)
    for _ in range(calls[0] or max(1, int(warmup / once))):
        fn()
    times = []
    for _ in range(calls[1] or max(1, int(rep / once))):
        before()
        times.append(_call(fn))
    if quantiles is not None:
        found = [quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    return _SUMMARIES[mode](times)
