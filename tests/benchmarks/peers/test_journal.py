"""What a run that was cut off has measured is there when it goes on."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "peers")
    import harness
    import journal

    yield journal.Journal, harness.Result
    for name in ("journal", "harness"):
        del sys.modules[name]


def test_a_resumed_run_goes_on(modules, tmp_path):
    Journal, Result = modules
    results = [Result("work", 1.0, "rival", None, "us", None, None, None, 1.0)]
    path = tmp_path / "folder" / "peers.jsonl"
    first = Journal(path, "machine", False)
    first.add("launch", results)
    first.add("empty", [])
    resumed = Journal(path, "machine", True)
    assert resumed.measured == {"launch": results, "empty": []}
    resumed.add("more", results)
    assert list(Journal(path, "machine", True).measured) == ["launch", "empty", "more"]


def test_a_new_run_begins_anew(modules, tmp_path):
    Journal, _ = modules
    path = tmp_path / "peers.jsonl"
    Journal(path, "machine", False).add("launch", [])
    assert Journal(path, "machine", False).measured == {}
    assert Journal(path, "machine", True).measured == {}


def test_figures_of_two_machines_are_not_mixed(modules, tmp_path):
    Journal, _ = modules
    path = tmp_path / "peers.jsonl"
    Journal(path, "machine", False)
    with pytest.raises(ValueError, match="is of another machine: machine"):
        Journal(path, "another", True)
