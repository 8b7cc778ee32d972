"""The tables of a run, short and whole, are of the same results, and a workload reaches its goals only where all rows do."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BENCHMARKS = ROOT / "benchmarks"
MARKED = re.compile(r"<!-- measured on a GPU: begin -->\n(.*)\n<!-- measured on a GPU: end -->", re.S)


@pytest.fixture
def pages(monkeypatch, tmp_path):
    """With two sections of two workloads and of one, in place of the measured ones, and empty pages."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "peers")
    import pages
    from sections import Section

    products = Section("Products, and sums", {"matmul 8": {"row": None, "column": None}, "matmul 9": {"nine": None}}, "note")
    monkeypatch.setattr(pages, "SECTIONS", (products, Section("Copies", {"copy": {"copied": None}}, "other")))
    for name, page in (("SHORT", "performance.md"), ("WHOLE", "measurements.md")):
        monkeypatch.setattr(pages, name, tmp_path / page)
        (tmp_path / page).write_text("above\n<!-- measured on a GPU: begin -->\n<!-- measured on a GPU: end -->\nbelow\n")
    yield pages
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).is_relative_to(BENCHMARKS):
            del sys.modules[name]


def result(work, ours, rival, theirs, goal=1.0):
    """Of rates: the ratio is what they say."""
    from harness import Result

    ratio = theirs and ours / theirs
    return Result(work, ours, rival, theirs, "TFLOP/s", ratio, ratio, ratio, goal)


def measured():
    return {
        "row": [
            result("matmul 8, row, TileLang", 90.0, "cuBLAS", 100.0, 0.9),
            result("matmul 8, row, TileLang", 90.0, "Triton, 3 stages", 60.0),
            result("matmul 8, row, pointers", 99.7, "cuBLAS", 100.0),
        ],
        "column": [
            result("matmul 8, column, pointers", 80.0, "cuBLAS", 120.0),
            result("matmul 8, column", 50.0, "Triton, 4 stages", 40.0),
        ],
        "nine": [result("matmul 9, TileLang", 7.0, "TileLang", 3.5, 2.0)],
    }


LINE = "| [matmul 8](measurements.md#products-and-sums) | 50.0 to 99.7 TFLOP/s | cuBLAS; Triton | 100 to 120; 40.0 to 60.0 "
LINE += "| 0.67 to 1.00; 1.25 to 1.50 | 0.90 to 1.00; 1.00 | 2 of 4; worst: column, pointers, 0.67 of cuBLAS (goal 1.00) |"
NINE = "| [matmul 9](measurements.md#products-and-sums) | 7.0 TFLOP/s | TileLang | 3.5 | 2.00 | 2.00 | 1 of 1 |"


def test_a_workload_stands_for_all_of_its_rows(pages):
    lines = pages.short(measured()).splitlines()
    assert lines[0] == "1 of 2 workloads and 3 of 5 rows reach all of their goals."
    assert lines[4:] == [LINE, NINE]


def test_what_was_not_measured_has_no_line(pages):
    only = {"nine": measured()["nine"]}
    assert pages.short(only).splitlines()[4:] == [NINE]
    assert "Copies" not in pages.whole(only)


def test_a_rival_that_is_missing_leaves_its_goal_unreached(pages):
    missing = {"nine": [result("matmul 9, TileLang", 7.0, "TileLang", None), *measured()["nine"]]}
    line = pages.short(missing).splitlines()[-1]
    assert line.endswith("| 3.5 | 2.00 | 1.00 to 2.00 | 0 of 1; no figures of TileLang (goal 1.00) |")
    alone = pages.short({"nine": missing["nine"][:1]}).splitlines()[-1]
    assert alone.endswith("| TileLang | - | - | 1.00 | 0 of 1; no figures of TileLang (goal 1.00) |")


def test_figures_of_two_units_are_no_range(pages):
    mixed = measured()
    mixed["column"][0].unit = "GB/s"
    with pytest.raises(ValueError, match="too many values"):
        pages.short(mixed)


def test_both_pages_are_of_one_run(pages):
    pages.write(measured(), "a machine", "./run peers --write")
    short, whole = pages.SHORT.read_text(), pages.WHOLE.read_text()
    for text in (short, whole):
        assert text.startswith("above\n") and text.endswith("\nbelow\n")
        assert ", `./run peers --write`. a machine.\n" in text
    assert LINE in short and "## " not in short
    assert "## Products, and sums\n[Notebook](notebook.md#note).\n\n" in whole
    assert "| matmul 8, row, TileLang | 90.0 TFLOP/s | cuBLAS; Triton, 3 stages |" in whole


def test_todays_pages_agree():
    short, whole = (MARKED.search((ROOT / "docs" / name).read_text())[1] for name in ("performance.md", "measurements.md"))
    assert short.splitlines()[0] == whole.splitlines()[0]
    lines = [line.split(" | ") for line in short.splitlines() if line.startswith("| [")]
    counts = [tuple(map(int, re.match(r"(\d+) of (\d+)", line[-1]).groups())) for line in lines]
    rows = re.findall(r"^\| (?!work).* \| (.*) \|$", whole, re.M)
    reached = [set(row.split("; ")) == {"yes"} for row in rows]
    assert (sum(reached), len(rows)) == tuple(map(sum, zip(*counts, strict=True)))
    said = f"{sum(of == all_ for of, all_ in counts)} of {len(counts)} workloads and {sum(reached)} of {len(rows)} rows reach"
    assert said in short
