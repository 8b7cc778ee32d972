"""The operators of examples/distributed/layer_kernels.py beside torch's functions, with gradients, in float64."""

import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.library import opcheck

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "distributed"


@pytest.fixture(scope="module")
def layer_kernels():
    sys.path.insert(0, str(FOLDER))
    try:
        import layer_kernels  # noqa: PLC0415
    finally:
        sys.path.remove(str(FOLDER))
    return layer_kernels


def attention(q, k, v):
    scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(torch.ones(q.shape[2], q.shape[2]).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v, scores.logsumexp(-1) / torch.tensor(2.0, dtype=scores.dtype).log()


def logits(x, targets, first):
    own = (targets >= first) & (targets < first + x.shape[1])
    picked = x.gather(1, torch.where(own, targets - first, 0)[:, None])[:, 0]
    return x.logsumexp(1), torch.where(own, picked, 0)


def gated(x):
    gate, up = x.chunk(2, 1)
    return F.silu(gate) * up


def rms_norm(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


# {operator: (what it computes, shapes of its tensors, further arguments, results that have gradients)}
OPERATORS = {
    "linear": (F.linear, [(100, 48), (72, 48)], (), 1),
    "rms_norm": (rms_norm, [(13, 96), (96,)], (1e-5,), 1),
    "gated": (gated, [(13, 192)], (), 1),
    "attention": (attention, [(2, 2, 128, 32)] * 3, (), 1),
    "logits": (logits, [(13, 100)], (torch.arange(13) * 14, 50), 2),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_results_and_gradients(layer_kernels, name):
    function, shapes, others, differentiable = OPERATORS[name]
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(shape, generator=generator, requires_grad=True) for shape in shapes]
    exact = [tensor.detach().double().requires_grad_() for tensor in tensors]
    found, expected = getattr(layer_kernels, name)(*tensors, *others), function(*exact, *others)
    found, expected = (results if isinstance(results, tuple) else (results,) for results in (found, expected))
    for ours, theirs in zip(found, expected):
        torch.testing.assert_close(ours.double(), theirs, rtol=2e-5, atol=2e-5)
    slopes = [torch.randn(result.shape, generator=generator) for result in expected[:differentiable]]
    torch.autograd.backward(found[:differentiable], slopes)
    torch.autograd.backward(expected[:differentiable], [slope.double() for slope in slopes])
    for ours, theirs in zip(tensors, exact):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", OPERATORS)
def test_checks_of_torch(layer_kernels, name):
    _, shapes, others, _ = OPERATORS[name]
    tensors = [torch.randn(shape) for shape in shapes]
    assert set(opcheck(getattr(layer_kernels, name), (*tensors, *others)).values()) == {"SUCCESS"}
