"""The bounds hold for what was rounded, and for nothing worse."""

import pytest
import torch
from language import bounds
from language.bounds import within


@pytest.fixture(autouse=True)
def on_the_cpu(device):
    with torch.device("cpu"):  # torch's own products there are of float32
        yield


def refused(actual, wanted):
    with pytest.raises(AssertionError, match="too far off"):
        within(actual, wanted)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_product(dtype):
    a, b = torch.randn(30, 200).to(dtype), torch.randn(200, 20).to(dtype)
    wanted = bounds.product(a, b, dtype)
    within((a.float() @ b.float()).to(dtype), wanted)
    refused((a.to(torch.float16).float() @ b.float()).to(dtype) * (1 + 4 * bounds.UNITS[dtype]), wanted)
    lost = a.clone()
    lost[:, 7] = 0
    refused((lost.float() @ b.float()).to(dtype), wanted)
    refused(torch.full((30, 20), float("nan")), wanted)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_softmax(dtype):
    x = (4 * torch.randn(20, 50)).to(dtype)
    wanted = bounds.softmax(x)
    within(x.float().softmax(-1).to(dtype), wanted)
    refused((x.float().softmax(-1) * (1 + 300 * 2.0**-24)).to(dtype) if dtype == torch.float32 else x.softmax(-1) * 1.01, wanted)


def test_rms_norm_and_sums():
    x = torch.randn(20, 50)
    wanted = bounds.rms_norm(x, 1e-5)
    within(x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt(), wanted)
    refused(x * (x.square().mean(-1, keepdim=True) + 1e-4).rsqrt(), wanted)
    within(x.sum(0), bounds.added(x, 0))
    refused(x[1:].sum(0), bounds.added(x, 0))
