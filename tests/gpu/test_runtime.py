"""Streams, graphs, contexts and failures of launches on a GPU."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from gpu.programs import EXAMPLES, LANGUAGES
from gpu.test_matmul import assert_product

from tilery import compat

pytestmark = pytest.mark.gpu


@pytest.fixture
def rows():
    return compat.load(EXAMPLES / "tileon" / "rows.py")


def in_fresh_process(program, **environment):
    """Its standard output."""
    setup = f"import torch\nfrom tilery import compat, errors\nrows = compat.load({str(EXAMPLES / 'tileon' / 'rows.py')!r})\n"
    command = [sys.executable, "-c", setup + textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.gpu(emulated=False)
@pytest.mark.parametrize("language", LANGUAGES)
def test_graph_capture(language):
    """The first launch of a kernel may be the captured one: code is loaded meanwhile."""
    torch.randn(64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    # JAX's threads may allocate, where its tests have run in this process.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        _, c, a, b = LANGUAGES[language](256, 512, 128, torch.float16, "cuda")
    for _ in range(2):
        graph.replay()
        assert_product(c, a, b)


@pytest.mark.gpu(emulated=False)
def test_captured_launches_do_not_run(rows):
    x, out = torch.randn(100, device="cuda"), torch.zeros(100, device="cuda")
    rows.add(x, x, out)
    out.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        rows.add(x, x, out)
    assert not out.any()
    graph.replay()
    assert torch.equal(out, x + x)


@pytest.mark.gpu(emulated=False)
def test_runs_on_the_current_stream(rows):
    x, out = torch.ones(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    rows.add(x, x, out)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(20):  # each sum follows the one before
            torch.cuda._sleep(1_000_000)
            x.add_(1)
            rows.add(x, x, out)
    stream.synchronize()
    assert (out == 42).all()


def test_another_allocation_of_another_size_behind_the_same_kernel():
    """Descriptions of tensors are kept: a launch must not meet those of another tensor."""
    for m, n in ((128, 256), (256, 256), (128, 512), (128, 256)):
        _, c, a, b = LANGUAGES["ninetoothed"](m, n, 128, torch.float16, "cuda")
        assert_product(c, a, b)


def test_every_device(rows):
    for number in range(torch.cuda.device_count()):
        x = torch.randn(1000, device=f"cuda:{number}")
        out = torch.empty_like(x)
        rows.add(x, x, out)
        assert torch.equal(out, x + x)
        assert torch.cuda.current_device() == 0


@pytest.mark.gpu(emulated=False)
def test_illegal_address_names_kernel_and_launch():
    program = """
        x, out = torch.randn(64, device="cuda"), torch.empty(64, device="cuda")
        rows.add_kernel[(1,)](x, x, out, 64, BLOCK=64)
        try:
            rows.add_kernel[(1 << 20,)](x, x, out, 1 << 30, BLOCK=1024)
        except errors.GpuAddressError as error:
            assert isinstance(error, RuntimeError)
            print(error)
        """
    said = in_fresh_process(program, CUDA_LAUNCH_BLOCKING="1")
    assert said.partition(": ")[2].startswith("launching add_kernel, grid 1048576x1x1 in 1048576 blocks of ")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said and "read or wrote outside its tensors" in said


@pytest.mark.gpu(emulated=False)
def test_without_torch():
    program = Path(__file__).with_name("without_torch.py")
    paths = os.pathsep.join([str(program.parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr
