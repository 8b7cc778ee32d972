"""Wheels are built over this build, and are what tools/check_wheel.py says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif("TILERY_BUILD_DIR" not in os.environ, reason="needs a finished build: ./run build")


def wheel(folder, *options):
    command = [sys.executable, ROOT / "tools" / "wheel.py", "--out", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.iterdir()
    assert f"{path.name}: checked" in done.stdout
    return path.name


def test_wheel_of_this_python(tmp_path):
    python, abi = "cp{}{}".format(*sys.version_info), "abi3" if sys.version_info >= (3, 12) else "cp311"
    python = "cp312" if abi == "abi3" else python
    assert wheel(tmp_path, "--without-tests").endswith(f"-{python}-{abi}-manylinux_2_28_x86_64.whl")


@pytest.mark.long
def test_wheel_of_this_python_with_tests(tmp_path):
    wheel(tmp_path)


@pytest.mark.long
def test_wheel_of_the_stable_abi(tmp_path):
    python = shutil.which("python3.12")
    if not python or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip("needs a Python 3.12 with headers on the path: the wheel of the stable ABI is made with it")
    assert wheel(tmp_path, "--python", python).endswith("-cp312-abi3-manylinux_2_28_x86_64.whl")
