"""The gate: two processes in turns, and what counts as slower."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAM = f"""
import sys
sys.path.insert(0, {str(BENCHMARKS)!r})
import builds
builds.work({{"sum": lambda: sum(range(int(sys.argv[2])))}}, note=lambda: "said")
"""


@pytest.fixture
def gate(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("gate")
    for name in ("gate", "builds"):
        sys.modules.pop(name, None)


class Paced:
    """A build whose calls take these seconds, one after the other."""

    def __init__(self, *seconds):
        self.left = list(seconds)

    def seconds(self, row):
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


@pytest.mark.parametrize(
    "ours, lost",
    [
        ([1.0], False),
        ([1.02], False),  # less than machines differ by
        ([1.1], True),
        ([0.5], False),
        ([1.0, 1.2, 0.9, 1.3, 0.8, 1.1, 1.0, 0.9, 1.2, 1.1, 1.0] * 40, False),  # slower by less than the spread
        ([1.3] * 11 + [1.0], False),  # only once: something else ran beside it
        ([1.0] * 11 + [1.3], False),
    ],
)
def test_slower(gate, ours, lost):
    _, found = gate.measured("row", Paced(*ours), Paced(1.0), 11)
    assert found == lost


def test_two_processes_in_turns(gate, tmp_path):
    import builds

    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    few, many = (builds.Build(str(n), [], program, str(n)) for n in (10000, 40000))
    assert few.notes == {"sum": "said"}
    assert all(ratio > 1.5 for ratio in gate.ratios(few, many, "sum", 3))
    for build in (few, many):
        build.process.stdin.close()
        assert build.process.wait(10) == 0


def test_a_build_that_ends_is_named(gate, tmp_path):
    import builds

    program = tmp_path / "program.py"
    program.write_text("raise SystemExit(3)")
    with pytest.raises(SystemExit, match="the base ended"):
        builds.Build("the base", [], program)
