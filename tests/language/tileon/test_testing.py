"""Timing tables, and what machines are said to do."""

import contextlib
import csv
import importlib.util
import time

import pytest
import torch

import tilery.tileon.language as tl
from tilery import tileon
from tilery.tileon import testing


@tileon.jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.program_id(0) * N + tl.arange(0, N), 1.0)



def report(**options):
    values = {"x_names": ["m", "n"], "x_vals": [(1, 2), (3, 4)], "line_arg": "how", "line_vals": ["sum", "bounds"]}
    benchmark = testing.Benchmark(**values, plot_name="figures", args={"scale": 10}, ylabel="ms", **options)

    @testing.perf_report(benchmark)
    def run(m, n, how, scale):
        return (m + n) * scale if how == "sum" else (m, m - 0.5, n)

    return run


def test_tables(tmp_path, capsys):
    with pytest.warns(UserWarning, match="no plot") if not has_matplotlib() else contextlib.nullcontext():
        report().run(print_data=True, save_path=str(tmp_path))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == [["figures:"], ["m", "n", "sum", "(ms)", "bounds", "(ms)"]]
    assert lines[2:] == [["1", "2", "30.0000", "1.0000"], ["3", "4", "70.0000", "3.0000"]]
    with open(tmp_path / "figures.csv") as file:
        assert list(csv.reader(file)) == [["m", "n", "sum (ms)", "bounds (ms)"], ["1", "2", "30", "1"], ["3", "4", "70", "3"]]
    assert (tmp_path / "results.html").exists() and (tmp_path / "figures.png").exists() == has_matplotlib()


def has_matplotlib():
    return importlib.util.find_spec("matplotlib") is not None


def test_x_needs_a_value_a_name():
    bad = testing.Benchmark(["m", "n"], [(1, 2, 3)], "how", ["a"], plot_name="p")
    with pytest.raises(ValueError, match="Expected 2 values"):
        testing.perf_report(bad)(lambda **_: 1.0).run()


def test_timing_without_graphs():
    calls = []
    took = testing.do_bench_cudagraph(lambda: calls.append(1), rep=1, quantiles=[0.5, 0.2])
    assert len(took) == 2 and took[0] >= 0 and len(calls) > 2


def test_time_within_launches(device):
    if device == "cuda":
        pytest.skip("launches on a GPU return before they end")
    x = torch.zeros(1 << 20)

    def call():
        fill[(16,)](x, 1 << 16)
        time.sleep(0.02)

    whole, within = (testing.do_bench(call, 1, 1, return_mode="min", measure_time_with_hooks=hooks) for hooks in (False, True))
    assert 0 < within < 20 <= whole


def test_what_the_machine_could_do():
    assert 1 < testing.get_dram_gbps() < 20_000
    single, double = testing.get_max_simd_tflops(tl.float32), testing.get_max_tensorcore_tflops(tl.float16)
    assert 0.01 < single <= double < 10_000
    assert testing.get_max_simd_tflops(tl.float32, clock_rate=1e6) == pytest.approx(
        testing.get_max_simd_tflops(tl.float32, clock_rate=2e6) / 2
    )


def test_memcheck_is_for_gpus():
    ran = []
    testing.cuda_memcheck(size=3)(lambda size, request: ran.append(size))(size=4, request=None)
    assert ran == [4]
