"""torch.compile with our Triton on a GPU: the programs of tests/compat/inductor.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parent.parent / "compat" / "inductor.py"


@pytest.mark.gpu(emulated=False)
@pytest.mark.parametrize("groups", ["kinds shapes kernels", "perceptron block convolutions recurrence", "templates", "flex"])
def test_agrees_with_eager(groups, tmp_path):
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tilery", "run", str(PROGRAM), "cuda", *groups.split()]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout.split()[-1] == groups.split()[-1], done.stdout + done.stderr
