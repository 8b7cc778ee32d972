"""Comparing and timing; timing tables have one line for each size, one column for each provider."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilery import _native

from ..core.timing import measure
from ..errors import error
from ..frontend.wording import counted
from .backends.active import driver
from .backends.bench import do_bench

__all__ = [
    "Benchmark",
    "Mark",
    "assert_close",
    "cuda_memcheck",
    "do_bench",
    "do_bench_cudagraph",
    "get_dram_gbps",
    "get_max_simd_tflops",
    "get_max_tensorcore_tflops",
    "nvsmi",
    "perf_report",
    "set_gpu_clock",
]


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


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> float | list[float]:
    """As do_bench, with the calls recorded in a graph of CUDA's, so that launching them costs nothing. On a CPU, where there is
    nothing to record, it is do_bench."""
    if driver.active.get_active_torch_device().type != "cuda":
        return do_bench(fn, warmup=rep / 4, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)
    import torch

    def clear() -> None:
        for x in grad_to_none or ():
            x.detach_()
            x.requires_grad_(True)
            x.grad = None

    with torch.cuda.stream(torch.cuda.Stream()):
        fn()  # compiles
        clear()
        calls = max(1, int(rep / max(_call_on_gpu(fn, 5), 1e-3)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                clear()
                fn()
        return measure(lambda: graph.replay(), 0, 0, return_mode, quantiles, calls=(1, 10), share=calls)


def _call_on_gpu(fn: Callable[[], Any], count: int) -> float:
    """Milliseconds of a call on the current stream."""
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        fn()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / count


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

    def header(self) -> list[str]:
        """The columns of its table."""
        return [*self.x_names, *(f"{name} ({self.ylabel})" if self.ylabel else name for name in self.line_names or ())]


Row = tuple[list[Any], list[tuple[float, float, float]]]  # x values, (middle, low, high) of each line


class Mark:
    """A function that is timed over benchmarks."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | list[Benchmark] | tuple[Benchmark, ...]) -> None:
        self.fn, self.benchmarks = fn, benchmarks

    def rows(self, benchmark: Benchmark, **kwargs: Any) -> list[Row]:
        """One row for each of x_vals. A function gives one number, or (middle, low, high)."""
        rows = []
        for x in benchmark.x_vals:
            values = list(x) if isinstance(x, (tuple, list)) else [x] * len(benchmark.x_names)
            if len(values) != len(benchmark.x_names):
                raise error(
                    ValueError, f"Expected {counted(len(benchmark.x_names), 'value')}, got {x}", hint="one for each of x_names"
                )
            named = dict(zip(benchmark.x_names, values))
            results = [self.fn(**named, **{benchmark.line_arg: line}, **benchmark.args, **kwargs) for line in benchmark.line_vals]
            rows.append((values, [tuple(r) if isinstance(r, (tuple, list)) else (r, r, r) for r in results]))
        return rows

    def run(
        self, show_plots: bool = False, print_data: bool = False, save_path: str = "", return_df: bool = False, **kwargs: Any
    ) -> Any:
        """Times everything.

        :param print_data: prints the tables; return_df: returns them as pandas frames.
        :param save_path: a folder for NAME.csv and NAME.png of each benchmark, and results.html with all of them.
        :param show_plots: shows the plots. Plots need matplotlib; without it there is a warning."""
        several = isinstance(self.benchmarks, (list, tuple))
        benchmarks: Sequence[Benchmark] = self.benchmarks if several else [self.benchmarks]  # type: ignore[assignment,list-item]
        frames, pictures = [], []
        for benchmark in benchmarks:
            rows = self.rows(benchmark, **kwargs)
            if print_data:
                _print(benchmark, rows)
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                _write(os.path.join(save_path, f"{benchmark.plot_name}.csv"), benchmark, rows)
            if (save_path or show_plots) and _plot(benchmark, rows, save_path, show_plots) and save_path:
                pictures.append(f'<img src="{benchmark.plot_name}.png"/>')
            if return_df:
                import pandas

                frames.append(pandas.DataFrame([[*x, *(m for m, _, _ in ys)] for x, ys in rows], columns=benchmark.header()))
        if save_path:
            with open(os.path.join(save_path, "results.html"), "w", encoding="utf-8") as file:
                file.write("<html><body>\n" + "\n".join(pictures) + "\n</body></html>\n")
        return None if not return_df else frames if several else frames[0]


def _print(benchmark: Benchmark, rows: Sequence[Row]) -> None:
    print(f"{benchmark.plot_name}:")
    columns = [str(name) for name in benchmark.header()]
    widths = [max(len(name), 12) for name in columns]
    print("  ".join(f"{name:>{width}}" for name, width in zip(columns, widths)))
    for x, ys in rows:
        cells = [*(str(v) for v in x), *(f"{middle:.4f}" for middle, _, _ in ys)]
        print("  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths)))


def _write(path: str, benchmark: Benchmark, rows: Sequence[Row]) -> None:
    import csv

    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(benchmark.header())
        writer.writerows([*x, *(middle for middle, _, _ in ys)] for x, ys in rows)


def _plot(benchmark: Benchmark, rows: Sequence[Row], save_path: str, show: bool) -> bool:
    """Draws the lines over the first of x_names, with what lies between low and high shaded. False: it was not drawn."""
    try:
        import matplotlib.pyplot as plot
    except ImportError:
        warnings.warn(f"{benchmark.plot_name}: no plot, because matplotlib is not installed", stacklevel=3)
        return False
    if not benchmark.plot_name:
        return False
    figure, axes = plot.subplots()
    x = [values[0] for values, _ in rows]
    for number, name in enumerate(benchmark.line_names or ()):
        middle, low, high = zip(*(ys[number] for _, ys in rows))
        color, style = (benchmark.styles or {number: (None, None)})[number]
        (line,) = axes.plot(x, middle, label=name, color=color, linestyle=style)
        if low != high:
            axes.fill_between(x, low, high, alpha=0.15, color=line.get_color())
    axes.legend()
    axes.set(xlabel=benchmark.xlabel or benchmark.x_names[0], ylabel=benchmark.ylabel)
    axes.set_xscale("log" if benchmark.x_log else "linear")
    axes.set_yscale("log" if benchmark.y_log else "linear")
    if show:
        plot.show()
    if save_path:
        figure.savefig(os.path.join(save_path, f"{benchmark.plot_name}.png"))
    plot.close(figure)
    return True


def perf_report(benchmarks: Benchmark | list[Benchmark] | tuple[Benchmark, ...]) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: makes a function that times one case a table of them, see Mark.run."""
    return lambda fn: Mark(fn, benchmarks)


# -- what the machine could do -----------------------------------------------------------------------------------------
def nvsmi(attrs: Sequence[str]) -> list[int]:
    """Numbers that nvidia-smi tells of the first GPU, such as "clocks.max.sm"."""
    import subprocess

    command = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(attrs)}", "--format=csv,noheader,nounits"]
    return [int(text) for text in subprocess.check_output(command).decode().split(",")]


def get_dram_gbps(device: int | None = None) -> float:
    """GB/s of the device's memory: of a GPU by its clock and width; of a CPU what copying takes, measured once."""
    if driver.active.get_current_target().backend == "cpu":
        return _copied_gbps()
    properties = driver.active.utils.get_device_properties(driver.active.get_current_device() if device is None else device)
    return properties["mem_clock_rate"] * properties["mem_bus_width"] * 2 / 1e6 / 8


@functools.lru_cache(maxsize=None)
def _copied_gbps() -> float:
    import numpy

    source, target = numpy.ones(1 << 25), numpy.zeros(1 << 25)
    took = measure(lambda: numpy.copyto(target, source), 0, 0, "min", calls=(1, 3))
    assert isinstance(took, float)
    return 2 * source.nbytes / took / 1e6


def get_max_simd_tflops(dtype: Any, clock_rate: float | None = None, device: int | None = None) -> float:
    """TFLOP/s of multiply-adds without tensor cores. clock_rate: kHz, the device's own if it is not given."""
    from .language import float16, float32

    target = driver.active.get_current_target()
    properties = driver.active.utils.get_device_properties(device or 0)
    rate = (clock_rate or properties["sm_clock_rate"]) * 1e3
    if target.backend == "cpu":
        lanes = (64 if "+avx512f" in _native.target_id("host") else 32) // max(dtype.itemsize, 4)
        return properties["multiprocessor_count"] * rate * lanes * 2 * 2 / 1e12  # two units, two operations
    wide = {80: {float32: 64, float16: 256}}.get(int(target.arch), {float32: 128, float16: 256})
    if dtype not in wide:
        raise error(RuntimeError, f"dtype {dtype} is not supported", hint="float16 or float32")
    return properties["multiprocessor_count"] * rate * wide[dtype] * 2 / 1e12


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float | None = None, device: int | None = None) -> float:
    """TFLOP/s of tensor cores; of a CPU, which has none, of its multiply-adds."""
    target = driver.active.get_current_target()
    if target.backend == "cpu":
        return get_max_simd_tflops(dtype, clock_rate, device)
    properties = driver.active.utils.get_device_properties(device or 0)
    # Multiply-adds of f16 that a multiprocessor does in a cycle, and what other types do of that.
    half = {8: 1024 if int(target.arch) == 80 else 512, 9: 2048}.get(int(target.arch) // 10, 4096)
    share = {8: 2.0, 16: 1.0, 32: 0.5}.get(dtype.primitive_bitwidth)
    if share is None:
        raise error(RuntimeError, f"dtype {dtype} is not supported", hint="types of 8, 16 or 32 bits")
    return properties["multiprocessor_count"] * (clock_rate or properties["sm_clock_rate"]) * 1e3 * half * share * 2 / 1e12


def cuda_memcheck(**target_kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a test: where its arguments are these, it runs in a process of its own under compute-sanitizer, which must
    find nothing. Without a GPU the test runs as it is."""

    def decorator(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            chosen = target_kwargs.items() <= kwargs.items() and os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") != "1"
            if not chosen or driver.active.get_current_target().backend != "cuda":
                return test(*args, **kwargs)
            import subprocess

            name = kwargs["request"].node.name
            command = ["compute-sanitizer", sys.executable, "-m", "pytest", "-vsx", f"{test.__code__.co_filename}::{name}"]
            environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
            out = subprocess.run(command, capture_output=True, text=True, env=environment)
            assert out.returncode == 0 and "ERROR SUMMARY: 0 errors" in out.stdout, out.stdout + out.stderr
            return None

        return wrapper

    return decorator


@contextlib.contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Iterator[tuple[float, float]]:
    """Within this the first GPU's clocks (MHz) stay there, by nvidia-smi: (TFLOP/s of its tensor cores, GB/s of its memory)."""
    import subprocess

    def smi(*options: str) -> None:
        subprocess.check_output(["nvidia-smi", "-i", "0", *options])

    try:
        smi("-pm", "1")
        smi(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        smi(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        if abs(nvsmi(["clocks.current.sm"])[0] - ref_sm_clock) >= 10:
            raise error(AssertionError, f"the GPU's clock did not go to {ref_sm_clock} MHz")
        from .language import float16

        yield get_max_tensorcore_tflops(float16, ref_sm_clock * 1e3), get_dram_gbps()
    finally:
        smi("-pm", "0")
        smi("-rgc")
        smi("-rmc")
