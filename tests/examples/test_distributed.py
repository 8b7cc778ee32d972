"""The programs of examples/distributed, by two processes on CPUs."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "distributed"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if "\nrun(main)\n" in path.read_text())  # the others are their modules


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_two_processes(program):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TILERY_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agrees" in done.stdout


def test_sizes_that_do_not_divide(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    peers = importlib.import_module("peers")
    monkeypatch.setattr(peers.dist, "get_world_size", lambda: 3)
    peers.divide("96 rows", "6 experts")
    with pytest.raises(SystemExit, match="^512 rows do not divide by 3 processes$"):
        peers.divide("96 columns", "512 rows")
