"""Operators by kernels on a GPU: streams, CUDA graphs, torch's compiler."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch
from torch.library import opcheck

pytestmark = pytest.mark.gpu(emulated=False)


@pytest.fixture(scope="module")
def kernels():
    name = "torch_operators_kernels"
    if name not in sys.modules:
        path = Path(__file__).parents[1] / "torch_operators" / "kernels.py"
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def x():
    return torch.randn(512, 384, device="cuda")


def test_checks_of_torch(kernels, x):
    calls = [(kernels.silu, ()), (kernels.scaled, (2.0,)), (kernels.sums, ()), (kernels.plus_transposed, (x,))]
    for operator, arguments in [*calls, (kernels.double, ()), (kernels.tripled, ())]:
        operator(x, *arguments)
        assert set(opcheck(operator, (x, *arguments)).values()) == {"SUCCESS"}


def test_streams(kernels, x):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        y = kernels.silu(kernels.scaled(x, 2.0))
        assert not stream.query()  # the kernels wait for what this stream did before
    torch.cuda.current_stream().wait_stream(stream)
    torch.testing.assert_close(y, torch.nn.functional.silu(2 * x))


def test_captured(kernels, x):
    function = lambda x: kernels.sums(kernels.silu(kernels.scaled(x, 2.0)))[0]
    function(x)  # compiled before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        y = function(x)
    for _ in range(3):
        x.normal_()
        graph.replay()
        torch.testing.assert_close(y, torch.nn.functional.silu(2 * x).sum(1), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled(kernels, x, mode):
    """Forward and backward in one graph; with CUDA graphs, too."""
    function = lambda x: (kernels.silu(kernels.scaled(x, 2.0)) ** 2).sum()
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(function, fullgraph=True, mode=mode)
    for _ in range(4):
        given = x.clone().requires_grad_()
        wanted = x.clone().requires_grad_()
        compiled(given).backward()
        function(wanted).backward()
        torch.testing.assert_close(given.grad, wanted.grad)
        x.normal_()
    assert not torch._dynamo.utils.counters["graph_break"]
    if mode == "reduce-overhead":
        assert not torch._dynamo.utils.counters["inductor"]["cudagraph_skips"]
