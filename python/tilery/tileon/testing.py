"""Comparing and timing; timing tables have one line for each size, one column for each provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.timing import measure


def assert_close(
    x: Any,
    y: Any,
    atol: float | Callable[[Any], float] | None = None,
    rtol: float | Callable[[Any], float] | None = None,
    err_msg: str = "",
) -> None:
    """Raises AssertionError unless two arrays agree (atol 1e-2, rtol 0 by default)."""
    import numpy as np

    x, y = (_array(v) for v in (x, y))
    np.testing.assert_allclose(
        x, y, atol=1e-2 if atol is None else _bound(atol, x), rtol=0.0 if rtol is None else _bound(rtol, x), err_msg=err_msg
    )


def _bound(value: float | Callable[[Any], float], like: Any) -> float:
    return value(like.dtype) if callable(value) else value


def _array(value: Any) -> Any:
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    return np.asarray(value)


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


@dataclass
class Benchmark:
    """What to time: arguments that vary along x, an argument that names the line, and fixed ones."""

    x_names: list[str]
    x_vals: list[Any]
    line_arg: str
    line_vals: list[Any]
    line_names: list[str] | None = None
    plot_name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: list[Any] | None = None

    def __post_init__(self) -> None:
        self.line_names = self.line_names or [str(v) for v in self.line_vals]


class Mark:
    """A function that is timed over benchmarks."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | list[Benchmark] | tuple[Benchmark, ...]) -> None:
        self.fn, self.benchmarks = fn, benchmarks

    def rows(self, benchmark: Benchmark, **kwargs: Any) -> list[tuple[list[Any], list[float]]]:
        """[(x values, one result a line)]; of (median, low, high) the median."""
        rows = []
        for x in benchmark.x_vals:
            values = list(x) if isinstance(x, (tuple, list)) else [x] * len(benchmark.x_names)
            named = dict(zip(benchmark.x_names, values))
            results = [self.fn(**named, **{benchmark.line_arg: line}, **benchmark.args, **kwargs) for line in benchmark.line_vals]
            rows.append((values, [r[0] if isinstance(r, (tuple, list)) else r for r in results]))
        return rows

    def run(
        self, show_plots: bool = False, print_data: bool = False, save_path: str = "", return_df: bool = False, **kwargs: Any
    ) -> Any:
        """Times everything and prints the tables; with return_df they are returned as pandas frames."""
        benchmarks = self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]
        frames = []
        for benchmark in benchmarks:
            header, rows = [*benchmark.x_names, *(benchmark.line_names or ())], self.rows(benchmark, **kwargs)
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


def perf_report(benchmarks: Benchmark | list[Benchmark] | tuple[Benchmark, ...]) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: makes a function that times one case a table of them, see Mark.run."""
    return lambda fn: Mark(fn, benchmarks)
