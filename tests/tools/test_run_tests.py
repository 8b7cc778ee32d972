"""What ./run test counts and prints, and that the slices of its long part make the whole."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent.parent / "tools"
JUNIT = """<testsuites><testsuite>
<testcase classname="tests.a" name="good"/>
<testcase classname="tests.a" name="wrong"><failure message="no"/></testcase>
<testcase classname="tests.a" name="broken"><error message="no"/></testcase>
<testcase classname="tests.a" name="gpu"><skipped type="pytest.skip" message="needs an NVIDIA GPU and more"/></testcase>
<testcase classname="tests.a" name="root[1]"><skipped type="pytest.skip" message="only root"/></testcase>
<testcase classname="tests.a" name="root[2-x]"><skipped type="pytest.skip" message="only root"/></testcase>
<testcase classname="tests.a" name="known"><skipped type="pytest.xfail" message="a defect"/></testcase>
<testcase classname="Suite" name="Skips" status="run"><skipped message="a_test.cpp:7&#x0A;needs an NVIDIA GPU"/></testcase>
<testcase classname="Suite" name="DISABLED_Speed" status="notrun"/>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def runner():
    sys.path.insert(0, str(TOOLS))
    spec = importlib.util.spec_from_file_location("run_tests", TOOLS / "run_tests.py")
    sys.modules["run_tests"] = module = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    sys.path.remove(str(TOOLS))
    return module


def test_every_kind_of_result_is_counted(runner, tmp_path):
    (tmp_path / "report.xml").write_text(JUNIT)
    count = runner.from_junit(tmp_path / "report.xml")
    assert (count.passed, count.failed, len(count.skips)) == (1, 2, 5)
    assert str(count) == "1 passed, 2 failed, 5 skipped"


def test_skips_are_named_and_those_for_want_of_a_gpu_come_last(runner, tmp_path, capsys):
    (tmp_path / "report.xml").write_text(JUNIT)
    runner.tell_skips(runner.from_junit(tmp_path / "report.xml").skips)
    assert capsys.readouterr().out.splitlines() == [
        "skipped: only root: tests.a.root[1, 2-x]",
        "skipped: fails, as expected: a defect: tests.a.known",
        "skipped for want of a GPU: 2",
    ]


def test_a_runner_that_dies_has_failed(runner):
    assert runner.Count(passed=3).after(139).failed == 1
    assert runner.Count(failed=2).after(1).failed == 2


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_slices_of_random_programs_make_the_whole(runner, monkeypatch, tmp_path, parts):
    seeds = {"machine": [], "blocks": []}

    def fuzzed(runs):
        for _, count, _, first, _, against in runs:
            seeds[against] += range(int(first), int(first) + int(count))
        return runner.Count(passed=len(runs))

    monkeypatch.setattr(runner, "fuzzed", fuzzed)
    monkeypatch.setattr(runner, "unit", lambda *_: runner.Count())
    monkeypatch.setattr(runner, "python", lambda *_: runner.Count())
    for part in range(1, parts + 1):
        runner.long([f"{part}/{parts}"], tmp_path)
    for found in seeds.values():
        assert found == list(range(found[0], found[0] + len(found))) and len(found) > 10_000


def test_the_slice_of_today_is_printed(runner, capsys):
    part, parts = runner.chosen("today")
    assert 1 <= part <= parts == runner.SLICES
    assert f"./run test long {part}/{parts}" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1"])
def test_no_slice(runner, text):
    with pytest.raises(SystemExit, match="is no slice"):
        runner.chosen(text)
