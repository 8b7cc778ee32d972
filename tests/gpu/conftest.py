"""Tests for NVIDIA GPUs. Those marked `gpu` need one; the others look at the code that one would run."""

import shutil
import subprocess

import pytest
import torch


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU and a torch that sees it"))


@pytest.fixture(scope="session")
def assemble(tmp_path_factory):
    """assemble(ptx, arch) -> what ptxas says of it. Skips where there is no ptxas."""
    ptxas = shutil.which("ptxas")
    if not ptxas:
        pytest.skip("needs ptxas on the path: it comes with NVIDIA's toolkit, which Tilery does without")

    def run(ptx, arch):
        folder = tmp_path_factory.mktemp("ptx")
        (folder / "code.ptx").write_text(ptx)
        command = [ptxas, "-c", "-v", f"-arch={arch}", folder / "code.ptx", "-o", folder / "code.cubin"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run
