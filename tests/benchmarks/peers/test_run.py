"""`./run peers` where there is no GPU: its rows, its options, and what a run that was cut off leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).resolve().parents[3] / "benchmarks" / "peers"
HIDDEN = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


def python(*arguments):
    """What a fresh Python says, in which the benchmarks' modules do not meet the tests'."""
    return subprocess.run([sys.executable, *arguments], env=HIDDEN, cwd=PEERS, capture_output=True, text=True, timeout=120)


def said(code):
    done = python("-c", f"import sys; sys.path[:0] = ['.', '..']\n{code}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_row_is_in_one_workload():
    listed = python("run.py", "--list").stdout.split()
    assert len(listed) > 60 and len(set(listed)) == len(listed)
    each = "[(name, list(rows)) for s in sections.SECTIONS for name, rows in s.workloads.items()]"
    workloads = json.loads(said(f"import json, sections; print(json.dumps({each}))"))
    assert [row for _, rows in workloads for row in rows] == listed
    assert len({name for name, _ in workloads}) == len(workloads) and all(rows for _, rows in workloads)


def test_notes_are_in_the_notebook():
    notebook = (PEERS.parents[1] / "docs" / "notebook.md").read_text().splitlines()
    keep = "abcdefghijklmnopqrstuvwxyz0123456789-"
    titles = (line.lstrip("# ").lower().replace(" ", "-") for line in notebook if line.startswith("#"))
    anchors = {"".join(c for c in title if c in keep) for title in titles}
    notes = said("import sections; print(*(s.note for s in sections.SECTIONS))").split()
    assert set(notes) <= anchors


@pytest.mark.parametrize(("options", "message"), [
    (["--write", "launch"], "--write is for all rows: their tables are of one run"),
    (["launch"], "run peers: this needs an NVIDIA GPU and a torch that sees it"),
])  # fmt: skip
def test_wrong_calls_say_what_is_wrong(options, message):
    done = python("run.py", *options)
    assert done.returncode and message in done.stderr
