"""benchmarks/examples with examples made here: each case is a process of its own, and says what came of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "benchmarks" / "examples"

EXAMPLE = """
import fla  # a package that is not needed
import tilelang
import tilelang.language as T
from neighbour import factor

@tilelang.jit(out_idx=[1])
def scaled(n):
    @T.prim_func
    def main(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as b:
            for i in T.Parallel(64):
                y[b * 64 + i] = x[b * 64 + i] * factor * more
    return main
"""

CASES = """
import os, signal, time
import torch
from case import S, Case, case, example, randn

def scaled(wanted):
    m = example("folder/made", more=2.0)
    n = S(1 << 20, 256)
    x = randn(n, dtype=torch.float32)
    kernel = m.scaled(n)
    return Case(lambda: kernel(x), lambda: x * wanted)

case("right", "one")(lambda: scaled(6.0))
case("wrong", "one")(lambda: scaled(7.0))
case("raises", "two")(lambda: 1 / 0)
case("crashes", "two")(lambda: os.kill(os.getpid(), signal.SIGSEGV))
case("hangs", "three")(lambda: time.sleep(600))
case("parts", "four")(lambda: Case(lambda: [torch.ones(3), torch.zeros(2)], lambda: torch.ones(3), seen=lambda x: x[0]))
case("odd", "four")(lambda: Case(lambda: torch.ones(2), lambda: torch.tensor([1.0, float("inf")])))
case("another size", "four")(lambda: Case(lambda: torch.ones(2), lambda: torch.ones(3)))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("examples")
    for name, text in (
        ("ex/folder/made.py", EXAMPLE),
        ("ex/folder/neighbour.py", "factor = 3.0"),
        ("cases/made_cases.py", CASES),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run(folder, *options, file="rows.jsonl"):
    out = folder / "out"
    command = [sys.executable, "-m", "tilery", "run", str(EXAMPLES / "run.py"), str(out), "--examples", str(folder / "ex")]
    command += ["--programs", str(folder / "cases"), "--jobs", "2", *options]
    done = subprocess.run(command, env={**os.environ, "SMALL": "1"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = (out / file).read_text().splitlines() if (out / file).exists() else []
    return done.stdout, {row["name"]: row for row in map(json.loads, rows)}


def test_each_case_is_its_own_process(folder):
    _, rows = run(folder, "--group", "one|two|four")
    assert rows["right"]["ok"] and rows["right"]["errors"] == [0.0] and rows["right"]["family"] == "one"
    assert not rows["wrong"]["ok"] and rows["wrong"]["errors"][0] == pytest.approx(1 / 7, rel=0.01)
    assert "division by zero" in rows["raises"]["failed"]
    assert rows["crashes"]["failed"] == "the process ended with -11"
    assert rows["parts"]["ok"]
    assert not rows["odd"]["ok"] and "1 of 2 finite in one only" in rows["odd"]["flag"]
    assert not rows["another size"]["ok"] and "sizes (2,) for (3,)" in rows["another size"]["flag"]
    assert "ZeroDivisionError" in (folder / "out/log/raises.txt").read_text()
    # what has a row is not run again
    text, again = run(folder, "--only", "right|raises", "--group", "one|two")
    assert text == "" and again == rows
    text, again = run(folder, "--only", "raises", "--redo")
    assert text.startswith("raises: FAILED ZeroDivisionError") and len(again) == len(rows)


def test_a_case_that_hangs_is_ended(folder):
    _, rows = run(folder, "--only", "hangs", "--limit", "6", "--warm", file="warm.jsonl")
    assert rows["hangs"]["failed"] == "over 6 s"


def test_the_cases_of_the_tree_have_a_family_each(folder):
    command = [sys.executable, str(EXAMPLES / "run.py"), str(folder / "none"), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout.splitlines()
    names = [line.split()[0] for line in listed]
    assert len(names) > 70 and len(set(names)) == len(names)
    assert not (folder / "none").exists()


def module(name):
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def row(family, us=None, ok=True, **more):
    return {"family": family, "ok": ok, "errors": [0.0], "us": us, **more}


def test_failures_count_and_what_the_other_fails_does_not():
    compare = module("compare")
    theirs = {"a": row("f", 100.0), "b": row("f", 100.0), "c": row("g", 10.0, ok=False), "d": {"family": "g", "failed": "no"}}
    ours = {"a": row("f", 50.0), "b": row("f", 1.0, ok=False), "c": row("g", 10.0), "d": row("g", 10.0)}
    lines = compare.report(theirs, ours, {"a": {"first_s": 12.5}})
    assert lines[1].split() == ["a", "100.0", "50.0", "2.00", "12.5", "-"]
    assert lines[2].split()[:4] == ["b", "100.0", "1.0", "0.05"] and "Tilery wrong [0.0]" in lines[2]
    assert "TileLang wrong [0.0]" in lines[3] and "TileLang failed: no" in lines[4]
    assert lines[6].split() == ["f", "2", "0.32", "0.05", "2.00", "1"]
    assert lines[7].split() == ["all", "2", "0.32", "0.05", "2.00", "1"]
    even = {"a": row("f", 100.0)}
    assert len(compare.report(even, even, short=True)) == 4 and len(compare.report(even, even)) == 5


def test_ways_are_read_from_the_logs(tmp_path):
    ways = module("ways")
    (tmp_path / "log").mkdir()
    (tmp_path / "log/a.txt").write_text(
        "noise\nfwd (/x/y.py:12): consumers=2 k=64 stages=2: 335 cycles of 64 steps, bound by the copies; next consumers=1\n"
        "bwd (/x/y.py:90): no blocks, for it has control flow\n"
    )
    rows = [{"name": "a", **row("f"), "compile_s": 1.5}, {"name": "b", "family": "f", "failed": "KeyError: a|b\nhint"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    lines = ways.table({"cpu": tmp_path})
    assert lines[0] == "| case | family | cpu | s | ways |" and lines[1].count("|") == lines[0].count("|")
    assert lines[2] == (
        "| a | f | right | 1.5 | fwd (cpu): blocks: 335 cycles of 64 steps, bound by the copies<br>"
        "bwd (cpu): no blocks, for it has control flow |"
    )
    assert lines[3] == "| b | f | FAILED: KeyError: a/b hint |  |  |"
