"""Comparing and timing."""

import time

from ..errors import error
from .benchmark import Benchmark, Mark, perf_report  # noqa: F401


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless two arrays agree (atol 1e-2, rtol 0 by default)."""
    import numpy as np

    x, y = (_array(v) for v in (x, y))
    np.testing.assert_allclose(
        x, y, atol=1e-2 if atol is None else _bound(atol, x), rtol=0.0 if rtol is None else _bound(rtol, x), err_msg=err_msg
    )


def _bound(value, like):
    return value(like.dtype) if callable(value) else value


def _array(value):
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    return np.asarray(value)


def _quantile(times, q):
    times = sorted(times)
    position = q * (len(times) - 1)
    low = int(position)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (position - low)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", mode=None):
    """Milliseconds a call takes: mean, or median, min, max, all, or the given quantiles. warmup and rep are milliseconds."""
    mode = mode or return_mode
    if mode not in ("mean", "median", "min", "max", "all"):
        raise error(ValueError, f"unknown return_mode {mode!r}", hint="known: mean, median, min, max, all")
    fn()
    start = time.perf_counter()
    fn()
    once = max((time.perf_counter() - start) * 1e3, 1e-4)
    for _ in range(max(1, int(warmup / once))):
        fn()
    times = []
    for _ in range(max(1, int(rep / once))):
        for x in grad_to_none or ():
            x.grad = None
        start = time.perf_counter()
        fn()
        times.append((time.perf_counter() - start) * 1e3)
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if mode == "all":
        return times
    return {"mean": sum(times) / len(times), "median": _quantile(times, 0.5), "min": min(times), "max": max(times)}[mode]
