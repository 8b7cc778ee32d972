"""Many kernels compiled by many threads, beside launches (many_kernels.py, in a process of its own)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("many_kernels.py")


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.long)])
def test_kernels_of_two_languages(count, tmp_path):
    """Right numbers, no deadlock (a minute, and a second each), less than half a megabyte each beside what the compiler takes."""
    environment = {**os.environ, "TILERY_CACHE_DIR": str(tmp_path), "TILERY_ORACLE": ""}
    command = [sys.executable, str(PROGRAM), str(count)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60 + count)
    assert done.returncode == 0, done.stderr
    seconds, megabytes = map(float, done.stdout.split())
    assert megabytes < 100 + count / 2
