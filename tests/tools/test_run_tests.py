"""What ./run test counts and prints, that processes share its tests, and that the slices of its long part make the whole."""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import jobs
import ptx
import pytest
import run_tests as runner

TESTS = Path(__file__).resolve().parent.parent
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


def test_every_kind_of_result_is_counted(tmp_path):
    (tmp_path / "report.xml").write_text(JUNIT)
    count = runner.from_junit(tmp_path / "report.xml")
    assert (count.passed, count.failed, len(count.skips)) == (1, 2, 5)
    assert str(count) == "1 passed, 2 failed, 5 skipped"


def test_skips_are_named_and_those_for_want_of_a_gpu_come_last(tmp_path, capsys):
    (tmp_path / "report.xml").write_text(JUNIT)
    runner.tell_skips(runner.from_junit(tmp_path / "report.xml").skips)
    assert capsys.readouterr().out.splitlines() == [
        "skipped: only root: tests.a.root[1, 2-x]",
        "skipped: fails, as expected: a defect: tests.a.known",
        "skipped for want of a GPU: 2",
    ]


def test_a_runner_that_dies_has_failed():
    assert runner.Count(passed=3).after(139).failed == 1
    assert runner.Count(failed=2).after(1).failed == 2


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_slices_of_random_programs_make_the_whole(monkeypatch, tmp_path, parts):
    seeds = {"machine": [], "blocks": []}

    def fuzzed(runs):
        for _, count, _, first, _, against in runs:
            seeds[against] += range(int(first), int(first) + int(count))
        return []

    monkeypatch.setattr(runner, "fuzzed", fuzzed)
    for part in range(1, parts + 1):
        runner.long([f"{part}/{parts}"], tmp_path)
    for found in seeds.values():
        assert found == list(range(found[0], found[0] + len(found))) and len(found) > 10_000


def test_the_slice_of_today_is_printed(capsys):
    part, parts = runner.chosen("today")
    assert 1 <= part <= parts == runner.SLICES
    assert f"./run test long {part}/{parts}" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1"])
def test_no_slice(text):
    with pytest.raises(SystemExit, match="is no slice"):
        runner.chosen(text)


def case(name, assembled):
    return SimpleNamespace(nodeid=name, config=SimpleNamespace(getoption={"assembled": assembled}.get))


def test_slices_of_what_is_assembled_make_the_whole(monkeypatch):
    """Each of them has a case of each test, for another architecture than the one before."""
    tests = [[f"test_a.py::test_{test}[{number}]" for number in range(200)] for test in "xy"]
    names, whole, before = sum(tests, []), set(), []
    for part in range(1, runner.SLICES + 1):
        monkeypatch.setattr(ptx, "_first", {})
        found = {name: tuple(ptx.assembled_for(case(name, f"{part}/{runner.SLICES}"))) for name in names}
        whole |= {name for name in names if found[name] == ptx.ARCHITECTURES}
        assert sum(map(bool, found.values())) < 60
        alone = [[found[name] for name in test if len(found[name]) == 1] for test in tests]
        assert all(len(of_test) == 1 for of_test in alone)
        assert part == 1 or all(this != last for this, last in zip(alone, before, strict=True))
        before = alone
    assert whole == set(names)
    assert all(ptx.assembled_for(case(name, "1/1")) == ptx.ARCHITECTURES for name in names)


def test_the_slice_of_today_is_assembled(tmp_path):
    part, parts = runner.of_today()
    jobs = [*runner.python([], tmp_path), *runner.launches([], tmp_path)]
    assert jobs and all(f"--assembled={part}/{parts}" in job.command for job in jobs)
    assert not any("--assembled" in str(job.command) for job in runner.python(["tests/language"], tmp_path))


def printing(text, status=0, turn=None):
    command = [sys.executable, "-c", f"print({text!r}); raise SystemExit({status})"]
    return runner.Job(command, lambda bad: runner.Count(not bad, bad), turn=runner.USUAL if turn is None else turn)


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_jobs_of_all_parts_are_counted_and_printed_whole(capfd, lanes):
    parts = {
        "a": [printing("one"), printing("two", 3)],
        "b": [printing("first", turn=runner.FIRST)],
        "c": [],
    }
    results = runner.run_all(parts, lanes)
    assert {part: str(count) for part, (count, _) in results.items()} == {
        "a": "1 passed, 3 failed, 0 skipped",
        "b": "1 passed, 0 failed, 0 skipped",
        "c": "0 passed, 0 failed, 0 skipped",
    }
    assert results["a"][1] > 0
    lines = capfd.readouterr().out.splitlines()
    for part, text in (("a", "one"), ("a", "two"), ("b", "first")):
        assert lines[lines.index(text) - 1] == f"== {part}"
    assert sum(line.startswith("== a: 1 passed, 3 failed") for line in lines) == 1
    if lanes == 1:
        assert lines.index("first") < lines.index("one") < lines.index("two")


SHARED_TESTS = """
import time
import pytest

@pytest.mark.parametrize("case", range(3))
def test(case):
    time.sleep(0.05)
    assert (case, __file__[-4]) != (1, "2")
"""


def test_processes_share_files(tmp_path):
    """Each test runs once, those of a file in one process; a test that fails fails its process."""
    suite = tmp_path / "suite"
    suite.mkdir()
    for number in range(6):
        (suite / f"test_{number}.py").write_text(SHARED_TESTS)
    notes = tmp_path / "notes"
    notes.mkdir()
    options = [f"--rootdir={suite}", "-c", "/dev/null", "-p", "conftest", "-p", "no:cacheprovider", "-q", f"--share={notes}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ["PYTHONPATH"]])}
    reports = [tmp_path / f"report{number}.xml" for number in range(2)]
    processes = [
        subprocess.Popen([sys.executable, "-m", "pytest", *options, f"--junitxml={report}", suite], env=environment)
        for report in reports
    ]
    statuses = [process.wait() for process in processes]
    files = [{case.get("classname") for case in ElementTree.parse(report).iter("testcase")} for report in reports]
    assert sorted([*files[0], *files[1]]) == [f"test_{number}" for number in range(6)]
    assert str(sum(map(runner.from_junit, reports), runner.Count())) == "17 passed, 1 failed, 0 skipped"
    assert sorted(statuses) == [0, 1]


def test_long_runs_say_each_minute_what_has_not_ended(capsys):
    with jobs.telling(lambda: jobs.progress({"lint": 0, "python": 3}, {"lint": 1, "python": 4}), seconds=0.01):
        time.sleep(0.1)
    told = capsys.readouterr().err.splitlines()
    assert told and set(told) == {"-- 0 s; processes that have ended: python 1 of 4"}


RUN = TESTS.parent / "run"
PATIENT = r"""
set -euo pipefail
source <(sed -n '/^say()/,/^die()/p' "$1" | sed 's/sleep 30/sleep 0.1/')
patiently "waiting" sleep 0.5
patiently "failing" false || echo "status $?" >&2
"""


def test_what_prints_nothing_is_said_to_go_on():
    done = subprocess.run(["bash", "-c", PATIENT, "bash", RUN], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    told = done.stderr.splitlines()
    assert told[:3] == ["waiting", "waiting: 30 s", "waiting: 60 s"] and told[-2:] == ["failing", "status 1"]
