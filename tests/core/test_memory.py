"""Memory does not grow with the kernels that were compiled and dropped (memory.py, in processes of their own)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("memory.py")
# Kilobytes a kernel. A module of MLIR's that stays takes 260, a trace's syntax tree 50, loaded code 10 at least.
DROPPED = 6
# What a kind of call that may come again holds: its code, pages of it, and how it is launched.
KEPT = 30


def left_behind(language, warm, size, rounds):
    """Kilobytes a kernel, for each round."""
    command = [sys.executable, str(PROGRAM), language, str(warm), str(size), str(rounds)]
    environment = {**os.environ, "TILERY_CACHE_DIR": "", "TILERY_ORACLE": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


@pytest.mark.parametrize("language", ["tileon", "tilelang", "ninetoothed", "kinds"])
def test_a_kernel_leaves_nothing_behind(language):
    bound = KEPT if language == "kinds" else DROPPED
    assert min(left_behind(language, 100, 40, 2)) < bound  # the least: the C library's own growth comes in steps


@pytest.mark.long
@pytest.mark.parametrize("language", ["tileon", "tilelang", "ninetoothed", "kinds"])
def test_ten_thousand_kernels(language):
    """Of `kinds` a kernel keeps a thousand: from then on those that were not used for longest go."""
    rounds = left_behind(language, 2000, 1000, 8)
    assert sum(rounds) / len(rounds) < 1, rounds
