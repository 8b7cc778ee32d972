"""Timing of calls."""

from ...core.timing import measure


def do_bench(
    fn,
    warmup=25,
    rep=100,
    _n_warmup=0,
    _n_repeat=0,
    quantiles=None,
    fast_flush=True,
    backend="event",
    return_mode="mean",
):
    """Milliseconds a call of fn takes; warmup and rep are budgets in milliseconds."""
    return measure(fn, warmup, rep, return_mode, quantiles, calls=(_n_warmup, _n_repeat))
