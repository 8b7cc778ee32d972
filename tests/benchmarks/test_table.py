"""Tables of docs/performance.md: a new one takes the place of the old one and of nothing else."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
RESULT = SimpleNamespace(
    work="a row", ours=123.4, unit="GB/s", rival="copy", theirs=99.96, ratio=1.234, low=1.1, high=1.3, goal=1.0, reached=True
)


@pytest.fixture
def table(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("table", ROOT / "benchmarks/table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = tmp_path / "performance.md"
    page.write_text(module.PAGE.read_text())
    monkeypatch.setattr(module, "PAGE", page)
    return module


@pytest.mark.parametrize("name", ["measured", "measured on a GPU"])
def test_a_table_is_replaced_and_nothing_else(table, name):
    old = table.PAGE.read_text()
    table.write(name, [RESULT], "a machine", "./run bench --write")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    new = table.PAGE.read_text()
    assert old.split(begin)[0] == new.split(begin)[0] and old.split(end)[1] == new.split(end)[1]
    written = new.split(begin)[1].split(end)[0].splitlines()
    assert written[1].endswith("`./run bench --write`. a machine.")
    assert written[-1] == "| a row | 123 GB/s | copy | 100.0 GB/s | 1.23 (1.10 to 1.30) | 1.00 | yes |"
