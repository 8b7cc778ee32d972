"""Kernels with one known fault each, and without: what holds them back is named at its line, and nothing else."""

import linecache

import core.explain.small_kernels  # noqa: F401  # more rows
import pytest
import torch
from core.explain import flat_kernels
from core.explain.faulty_kernels import ROWS

from tilery import tileon
from tilery.core.explain import roofline
from tilery.core.explain.dealing import Finding
from tilery.core.explain.roofline import Roofline
from tilery.tileon import language as tl


@pytest.mark.parametrize("name", ROWS)
def test_the_fault_is_named_at_its_line(name):
    fault, explain = ROWS[name]
    (entry,) = explain().launches
    entry.kind.times.clear()  # of what is near the machine's limits nothing is said
    findings = [each for each in entry.findings if each.fault != "grid"]  # which hangs on how many processors there are
    found = [(each.fault, linecache.getline(each.chain[0].file, each.chain[0].line).rstrip()[-7:]) for each in findings]
    assert found == ([] if fault is None else [(fault, "# fault")])
    assert all(each.message and each.hint for each in entry.findings)


def test_what_to_change_is_what_helps():
    names = ("divide", "remainder", "padded_sums")
    hints = {name: [each.hint for each in ROWS[name][1]().launches[0].found.findings] for name in names}
    assert "constant of compile time" in hints["divide"][0]
    assert "constant" not in hints["remainder"][0], "each element has a divisor of its own"
    assert hints["padded_sums"] == ["take a tile of 128 where it has 1024: at most 100 of them exist"]


@tileon.jit
def tall_or_wide_kernel(x, o, N, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.program_id(1) * R + tl.arange(0, R), tl.program_id(0) * C + tl.arange(0, C)
    tl.store(o + c[None, :] * N + r[:, None], tl.load(x + r[:, None] * N + c[None, :]))


@pytest.mark.parametrize("rows, columns, thin", [(16, 256, True), (256, 16, True), (64, 64, False), (32, 256, False)])
def test_long_thin_transposes_are_not_told_to_be_so(rows, columns, thin):
    x, grid = torch.rand(256, 256), (256 // columns, 256 // rows)
    report = tall_or_wide_kernel.explain(x, torch.empty(256, 256), 256, R=rows, C=columns, grid=grid, seconds=0)
    (found,) = [each for each in report.launches[0].found.findings if each.fault == "transpose"]
    assert f"a tile of {rows} x {columns} is read" in found.message
    assert ("so long and thin a tile is as good as any" in found.hint) == thin
    assert ("16 along either dimension" in found.hint) != thin


def test_a_finding_shows_its_line():
    (of_code,) = ROWS["turn"][1]().launches[0].found.findings
    of_launch = Finding("grid", "one program runs", "take smaller tiles", of_code.chain)
    place = f"{of_code.chain[0].file}:{of_code.chain[0].line}"
    assert repr(of_code) == f"<{place}: transpose: {of_code.message}>"
    assert repr(of_launch) == f"<{place}: grid: one program runs>"
    assert repr(Finding("grid", "one program runs", "")) == "<grid: one program runs>"


def test_places_are_looked_up_or_computed():
    """Whole rows by index is what helps the first, tiles of two dimensions the second, a number that counts up others."""
    kinds = {"looked_up": ("looked up", "whole rows"), "put": ("looked up", "whole rows"), "table": ("looked up", "whole rows")}
    boxes = ["columns", *(f"{name}_250" for name in flat_kernels.TURNED)]
    kinds["flattened_columns"] = "division and remainder", "tile((BM, BN)) in the arrangement"
    kinds["turned_points"] = "division and remainder", "T.copy or T.Parallel(M, N)"
    kinds |= {name: ("division and remainder", "rows[:, None] * N + columns[None, :]") for name in boxes}
    kinds["places_of_squares"] = "computed for each", "a range that counts up"
    for name, (message, hint) in kinds.items():
        (found,) = (each for each in ROWS[name][1]().launches[0].found.findings if each.fault in ("gather", "scatter"))
        assert message in found.message and hint in found.hint, name


@tileon.jit
def scaled_rows_kernel(x, o, N, R: tl.constexpr, B: tl.constexpr):
    rows, columns = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, B)
    places = rows[:, None] * N + columns[None, :]
    v = tl.load(x + places, mask=columns[None, :] < N, other=0.0)
    tl.store(o + places, v * tl.rsqrt(tl.sum(v * v, axis=1))[:, None], mask=columns[None, :] < N)


def test_a_number_for_each_row_is_read_in_no_other_direction():
    x = torch.rand(64, 777)
    (entry,) = scaled_rows_kernel.explain(x, torch.empty_like(x), 777, R=4, B=1024, grid=(16,), seconds=0).launches
    assert not entry.found.findings


@tileon.jit
def counted_kernel(x, o, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS))


def test_few_updates_hold_nothing_back():
    x, o = torch.zeros(1 << 16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    for block, found in ((16384, []), (128, ["atomics"])):
        (entry,) = counted_kernel.explain(x, o, len(x), B=block, BINS=16, grid=(len(x) // block,), seconds=0).launches
        entry.kind.times[:] = [1.0]
        assert [each.fault for each in entry.findings if each.fault != "grid"] == found


@tileon.jit
def divided_twice_kernel(x, o, d, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    first = v // d
    second = (v + 1) // d
    tl.store(o + i, first + second)


def test_lines_of_one_fault_are_said_together():
    x = torch.ones(1 << 14, dtype=torch.int32)
    report = divided_twice_kernel.explain(x, x.clone(), 3, B=1024, grid=(16,), seconds=0)
    said, page = str(report), report.html()
    assert said.count("change: ") == said.count("integers are divided") == page.count("integers are divided") == 1
    assert "first = v // d" in said and "second = (v + 1) // d" in said and "second = (v + 1) // d" in page


def test_what_is_near_the_roofline_is_not_held_back(monkeypatch):
    (entry,) = ROWS["padded_sums"][1]().launches
    monkeypatch.setattr(roofline, "last_caches", lambda: 0)
    least = entry.limits[0][1]
    for share, faults in ((0.5, ["ragged"]), (0.9, [])):
        entry.kind.times[:] = [least / share] * 3
        assert [each.fault for each in entry.findings if each.fault != "grid"] == faults
    monkeypatch.setattr(roofline, "last_caches", lambda: 1 << 40)  # memory's rate says nothing of data that caches hold
    assert entry.limits[0][0] != "memory" or [each.fault for each in entry.findings if each.fault != "grid"] == ["ragged"]


@tileon.jit
def functions_kernel(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    v = tl.erf(v) + tl.sqrt(v)
    tl.store(o + i, v / 3.0)  # of float32 a product


def test_functions_that_take_the_time_are_named(monkeypatch):
    monkeypatch.setattr(roofline, "of", lambda device: Roofline(1e10, 1e11, 2e9))  # a nanosecond a fused product
    kinds = {torch.float32: (31, [8], "GELU"), torch.float64: (2 * 229, [28, 16], "convert to float32")}
    for dtype, (erf, others, hint) in kinds.items():
        x = torch.rand(1 << 16, dtype=dtype)
        (entry,) = functions_kernel.explain(x, torch.empty_like(x), B=1024, grid=(64,), seconds=0).launches
        costs = [round(each.products) >> 16 for work in entry.found.works for each in work.functions]
        assert costs == [erf, *others]
        for share, count in ((0.9, 1), (0.1, 0)):  # of the time that erf takes
            entry.kind.times[:] = [erf * (1 << 16) * 1e-6 / share] * 3
            named = [each for each in entry.findings if each.fault == "function"]
            assert len(named) == count
        entry.kind.times[:] = [erf * (1 << 16) * 1e-6 / 0.9] * 3
        (named,) = [each for each in entry.findings if each.fault == "function"]
        assert f"as long as {erf} fused products" in named.message and hint in named.hint
        assert "tl.erf" in linecache.getline(named.chain[0].file, named.chain[0].line)


@tileon.jit
def several_functions(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, tl.exp(v) + tl.log(v) + tl.sin(v) + tl.sqrt(v))


def test_functions_that_take_the_time_together_are_named(monkeypatch):
    monkeypatch.setattr(roofline, "of", lambda device: Roofline(1e10, 1e11, 2e9))
    x = torch.rand(1 << 16)
    (entry,) = several_functions.explain(x, torch.empty_like(x), B=1024, grid=(64,), seconds=0).launches
    costs = sorted(each.products for work in entry.found.works for each in work.functions)
    assert len(costs) == 4 and 4 * costs[-1] < 3 * sum(costs)
    for share, least in ((0.3, 2), (0.2, 0)):  # of the time that all take
        entry.kind.times[:] = [sum(costs) / 1e6 / share] * 3
        named = [each for each in entry.findings if each.fault == "function"]
        assert least <= len(named) < 4 and bool(named) == bool(least)


def test_there_are_twenty():
    assert sum(fault is not None for fault, _ in ROWS.values()) >= 20
    assert {fault for fault, _ in ROWS.values()} >= {
        "gather", "scatter", "division", "conversion", "atomics", "transpose", "ragged", "scalar", "spill", "sum", "small",
    }  # fmt: skip
