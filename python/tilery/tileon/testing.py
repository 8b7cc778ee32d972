"""Comparing and timing; timing tables have one line for each size, one column for each provider."""

from dataclasses import dataclass, field

from ..core.timing import measure


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


@dataclass
class Benchmark:
    """What to time: arguments that vary along x, an argument that names the line, and fixed ones."""

    x_names: list
    x_vals: list
    line_arg: str
    line_vals: list
    line_names: list = None
    plot_name: str = ""
    args: dict = field(default_factory=dict)
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: list = None

    def __post_init__(self):
        self.line_names = self.line_names or [str(v) for v in self.line_vals]


class Mark:
    """A function that is timed over benchmarks."""

    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def rows(self, benchmark, **kwargs):
        """[(x values, one result a line)]; of (median, low, high) the median."""
        rows = []
        for x in benchmark.x_vals:
            values = list(x) if isinstance(x, (tuple, list)) else [x] * len(benchmark.x_names)
            named = dict(zip(benchmark.x_names, values))
            results = [self.fn(**named, **{benchmark.line_arg: line}, **benchmark.args, **kwargs) for line in benchmark.line_vals]
            rows.append((values, [r[0] if isinstance(r, (tuple, list)) else r for r in results]))
        return rows

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Times everything and prints the tables; with return_df they are returned as pandas frames."""
        benchmarks = self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]
        frames = []
        for benchmark in benchmarks:
            header, rows = [*benchmark.x_names, *benchmark.line_names], self.rows(benchmark, **kwargs)
            if print_data:
                print(f"{benchmark.plot_name}:")
                print("  ".join(f"{h:>12}" for h in header))
                for x, results in rows:
                    print("  ".join([*(f"{v:>12}" for v in x), *(f"{r:>12.4f}" for r in results)]))
            if return_df:
                import pandas

                frames.append(pandas.DataFrame([[*x, *results] for x, results in rows], columns=header))
        if return_df:
            return frames if isinstance(self.benchmarks, (list, tuple)) else frames[0]
        return None


def perf_report(benchmarks):
    """Decorator: makes a function that times one case a table of them, see Mark.run."""
    return lambda fn: Mark(fn, benchmarks)
