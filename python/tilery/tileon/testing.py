"""Comparing and timing."""

from ..core.timing import measure
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


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", mode=None):
    """Milliseconds a call takes: mean, or median, min, max, all, or the given quantiles. warmup and rep are milliseconds."""

    def clear():
        for x in grad_to_none or ():
            x.grad = None

    return measure(fn, warmup, rep, mode or return_mode, quantiles, before=clear)
