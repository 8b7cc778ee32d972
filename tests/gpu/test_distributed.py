"""The programs of examples/distributed on two GPUs, or with an emulated GPU's code between two processes."""

import os
import subprocess
import sys

import pytest
import torch
from gpu.programs import EXAMPLES

PROGRAMS = sorted(path for path in (EXAMPLES / "distributed").glob("*.py") if "\nrun(main)\n" in path.read_text())
EMULATED = os.environ.get("TILERY_EMULATE")


@pytest.mark.gpu
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_two_processes(program):
    if not EMULATED and torch.cuda.device_count() < 2:
        pytest.skip("needs two NVIDIA GPUs: each of the two processes has one")
    if EMULATED and program.name == "train.py":
        pytest.skip("needs real GPUs: without any torch trains in float32, and an emulated one multiplies in tf32")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
    # NVLink multicast stays unused.
    environment = {**os.environ, "NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "TILERY_NUM_THREADS": "1"}
    if EMULATED:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agrees" in done.stdout
