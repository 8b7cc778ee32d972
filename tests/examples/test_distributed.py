"""The programs of examples/distributed, by two processes on CPUs."""

import contextlib
import importlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "distributed"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if "\nrun(main)\n" in path.read_text())  # the others are their modules


# The programs, one after the other, in processes that import torch once: each program's group meets at a port of its own.
ONE_BY_ONE = """
import os, runpy, sys
os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "False"
for port, program in zip(sys.argv[1].split(), sys.argv[2:]):
    os.environ["MASTER_PORT"], sys.argv = port, [program]
    if os.environ["RANK"] == "0":
        print("begins:", program)
    runpy.run_path(program, run_name="__main__")
"""


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return " ".join(str(opened.getsockname()[1]) for opened in sockets)


def test_two_processes(tmp_path):
    script = tmp_path / "one_by_one.py"
    script.write_text(ONE_BY_ONE)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", script]
    paths = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": "", "TILERY_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONUNBUFFERED"] = "1"  # the text of both in its order
    command += [free_ports(len(PROGRAMS)), *PROGRAMS]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    for program in PROGRAMS:
        said = done.stdout.split(f"begins: {program}\n")[-1].partition("begins: ")[0]
        assert "agrees" in said, (program.name, done.stdout)


def test_sizes_that_do_not_divide(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    peers = importlib.import_module("peers")
    monkeypatch.setattr(peers.dist, "get_world_size", lambda: 3)
    peers.divide("96 rows", "6 experts")
    with pytest.raises(SystemExit, match="^512 rows do not divide by 3 processes$"):
        peers.divide("96 columns", "512 rows")
