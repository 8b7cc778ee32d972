"""Tables of the pages of docs: a new one takes the place of the old one and of nothing else."""

import dataclasses
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"benchmarks/{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


RESULT = module("harness").Result("a row", 123.4, "copy", 99.96, "GB/s", 1.234, 1.1, 1.3, 1.0)
WRITTEN = "| a row | 123 GB/s | copy | 100.0 GB/s | 1.23 (1.10 to 1.30) | 1.00 | yes |"


@pytest.fixture
def table():
    return module("table")


@pytest.mark.parametrize(
    ("page", "name"),
    [("performance.md", "measured"), ("performance.md", "measured on a GPU"), ("measurements.md", "measured on a GPU")],
)
def test_a_table_is_replaced_and_nothing_else(table, tmp_path, page, name):
    old = table.PAGE.with_name(page).read_text()
    copy = tmp_path / page
    copy.write_text(old)
    table.write(copy, name, table.markdown([RESULT]), "a machine", "./run bench --write")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    new = copy.read_text()
    assert old.split(begin)[0] == new.split(begin)[0] and old.split(end)[1] == new.split(end)[1]
    written = new.split(begin)[1].split(end)[0].splitlines()
    assert written[1].endswith("`./run bench --write`. a machine.")
    assert written[-1] == WRITTEN


def test_rivals_of_the_same_work_stand_in_one_line(table):
    slower = dataclasses.replace(RESULT, rival="Triton, 2 warps", theirs=250.0, ratio=0.5, low=0.4, high=0.6)
    other = dataclasses.replace(RESULT, work="another row")
    assert table.markdown([RESULT, slower, other]).splitlines()[2:] == [
        "| a row | 123 GB/s | copy; Triton, 2 warps | 100.0 GB/s; 250 GB/s | 1.23 (1.10 to 1.30); 0.50 (0.40 to 0.60) "
        "| 1.00; 1.00 | yes; no |",
        WRITTEN.replace("a row", "another row"),
    ]


def test_a_rival_that_is_missing_has_no_figures(table):
    missing = dataclasses.replace(RESULT, rival="TileLang", theirs=None, ratio=None, low=None, high=None)
    assert table.markdown([missing]).splitlines()[-1] == "| a row | 123 GB/s | TileLang | - | - | 1.00 | - |"
    assert not missing.reached
