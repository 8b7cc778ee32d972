"""build/tilery-translate prints a plan or says what it does not take: no file of tests/ir crashes a target."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = Path(os.environ["TILERY_BUILD_DIR"]) / "tilery-translate"


@pytest.mark.parametrize("target", ["avx2", "sm_90a"])
def test_no_file_crashes_a_target(target):
    plans = 0
    for file in sorted(ROOT.glob("tests/ir/**/*.mlir")):
        done = subprocess.run([TOOL, f"--target={target}", "--print=plan", file], capture_output=True, text=True)
        assert done.returncode in (0, 1) and "crashed" not in done.stderr, (file, done.stderr)
        assert done.returncode == 0 or done.stderr.startswith("tilery-translate: "), (file, done.stderr)
        plans += done.returncode == 0
    assert plans > 80
