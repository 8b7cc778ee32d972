"""The programs of examples/ on a GPU, and the matmul of Tileon's documentation as printed."""

import subprocess
import sys

import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import compat

pytestmark = pytest.mark.gpu

PROGRAMS = sorted(path for folder in ("tileon", "ninetoothed", "tilelang") for path in (EXAMPLES / folder).glob("*.py"))


@pytest.mark.gpu(emulated=False)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_program_runs_unchanged(program):
    done = subprocess.run([sys.executable, EXAMPLES / "on_gpu.py", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "agree" in done.stdout or "匹配" in done.stdout


@pytest.mark.gpu(emulated=False)
def test_demo():
    done = subprocess.run([sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cuBLAS" in done.stdout and "cuDNN" in done.stdout and "all results agree with float64" in done.stdout


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_printed_matmul(tmp_path, dtype):
    """Its masks advance with its pointers: the first half of K is added up."""
    last = "        b_ptrs += BLOCK_K * stride_bk\n"
    text = (EXAMPLES / "tileon" / "matmul.py").read_text()
    assert text.count(last) == 1
    program = tmp_path / "printed.py"
    program.write_text(text.replace(last, last + "        offs_k += BLOCK_K\n"))
    torch.set_default_device("cuda")
    try:
        a, b = torch.randn(512, 256).to(dtype), torch.randn(256, 512).to(dtype)
        c = compat.load(program).matmul(a, b)
    finally:
        torch.set_default_device(None)
    assert c.is_cuda
    a, b = a[:, :128].double(), b[:128].double()
    assert ((c.double() - a @ b).abs() <= 130 * 2.0**-23 * (a.abs() @ b.abs())).all()
