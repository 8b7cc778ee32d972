"""The launch on a GPU against a driver that only counts and fails as told: where it runs, what it may not do, how it fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tilery import aot, tileon
from tilery.tileon import language as tl

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """The fakes of libcuda and of its PTX compiler."""
    if not shutil.which("clang-22"):
        pytest.skip("needs clang-22, which builds Tilery")
    folder = tmp_path_factory.mktemp("driver")
    library, fake = folder / "libcuda.so.1", folder / "fake_driver.o"
    subprocess.run(["clang-22", "-c", "-fPIC", HERE / "fake_driver.c", "-o", fake], check=True)
    includes = [f"-I{HERE.parents[2]}", f"-I{HERE.parents[2] / 'include'}"]
    command = ["clang++-22", "-std=c++20", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", *includes, fake, HERE / "defaults.cpp"]
    subprocess.run([*command, "-o", library], check=True)
    compiler = folder / "libnvidia-ptxjitcompiler.so.1"
    command = ["clang-22", "-shared", "-fPIC", f"-Wl,-soname,{compiler.name}", HERE / "fake_ptx_compiler.c", "-o", compiler]
    subprocess.run(command, check=True)
    return library, compiler


@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


PROGRAMS = [
    "properties",
    "launches",
    "dependent_launches",
    "cooperative_grids",
    "devices",
    "nothing_waits",
    "unloading",
    "tensor_maps",
    "empty_operands",
    "illegal_address",
    "out_of_memory",
    "unsupported",
    "old_gpu",
    "new_gpu",
    "small_new_gpu",
    "too_many_threads",
    "too_much_shared_memory",
    "assembles",
    "assembles_with_lines",
    "assembles_in_the_driver",
    "wrong_code",
    "spills",
    "spills_are_explained",
    "serialised_runs",
    "serialised_once",
    "serialised",
    "serialised_in_the_driver",
    "forked",
    "forked_by_who_started_the_driver",
    "forked_before",
    "no_start",
    "no_ptx_compiler",
    "too_old",
]


LAUNCHES = [
    "plain",
    "programmatic",
    "cooperative",
    "clusters",
    "clusters_on_an_old_gpu",
    "tensor_maps",
    "known_tensor_maps",
    "many_tensor_maps",
    "conditions",
    "shared_steps",
    "workspaces",
]


@pytest.fixture(scope="module")
def launches(tmp_path_factory):
    """launches.cpp, which has the runtime and nothing else of Tilery."""
    runtime = Path(os.environ["TILERY_BUILD_DIR"]) / "libtilery_rt.a"
    if not runtime.exists():
        pytest.skip("needs a build folder")
    program = tmp_path_factory.mktemp("launches") / "launches"
    include = f"-I{HERE.parents[2] / 'include'}"
    command = ["clang++-22", "-std=c++20", include, HERE / "launches.cpp", runtime, "-lpthread", "-ldl", "-o", program]
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize("name", LAUNCHES)
def test_launch(name, libraries, launches):
    done = subprocess.run([launches, *libraries, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_bundle_on_streams_of_a_c_program(libraries, tmp_path):
    """Loaded, called on the caller's streams, and closed, 1,000 times: each module that was loaded is unloaded."""
    x, y, out = (torch.zeros(1003) for _ in range(3))
    compiled = add_kernel[(1,)](x, y, out, 1003, BLOCK=256)
    parameters = aot.entry_of("add", compiled.image()).parameters
    entry = aot.Entry("add", parameters, [aot.image_for(compiled, "sm_80")], takes_grid=True)
    bundle = aot.write(tmp_path, "add", [entry], "cuda")
    runtime, program, code = Path(os.environ["TILERY_BUILD_DIR"]) / "libtilery_rt.a", tmp_path / "serving", tmp_path / "serving.o"
    subprocess.run(["clang-22", f"-I{HERE.parents[2] / 'include'}", "-c", HERE / "serving.c", "-o", code], check=True)
    subprocess.run(["clang++-22", code, runtime, "-lpthread", "-ldl", "-o", program], check=True)
    done = subprocess.run([program, *libraries, bundle], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def of_cuda_11(library, folder):
    """The fake of libcuda without a function that came with CUDA 12.0."""
    (folder / "of_cuda_11").write_bytes(library.read_bytes().replace(b"cuTensorMapEncodeTiled", b"cuTensorMapEncodeLater"))
    return folder / "of_cuda_11"


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, libraries, tmp_path):
    if program == "too_old":
        libraries = of_cuda_11(libraries[0], tmp_path), libraries[1]
    paths = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "TILERY_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, HERE / "programs.py", *libraries, program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
