"""The launch on a GPU against a driver that only counts and fails as told: where it runs, what it may not do, how it fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    if not shutil.which("clang-22"):
        pytest.skip("needs clang-22, which builds Tilery")
    folder = tmp_path_factory.mktemp("driver")
    library, fake = folder / "libcuda.so.1", folder / "fake_driver.o"
    subprocess.run(["clang-22", "-c", "-fPIC", HERE / "fake_driver.c", "-o", fake], check=True)
    includes = [f"-I{HERE.parents[2]}", f"-I{HERE.parents[2] / 'include'}"]
    command = ["clang++-22", "-std=c++20", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", *includes, fake, HERE / "defaults.cpp"]
    subprocess.run([*command, "-o", library], check=True)
    return library


PROGRAMS = [
    "launches",
    "devices",
    "nothing_waits",
    "tensor_maps",
    "illegal_address",
    "out_of_memory",
    "unsupported",
    "old_gpu",
    "too_many_threads",
    "too_much_shared_memory",
    "serialised",
    "no_start",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, driver, tmp_path):
    paths = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "TILERY_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, HERE / "programs.py", driver, program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
