"""Powers whose exponent a program writes down, against Python's of the exact values."""

import math

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl
from tilery.tileon.language.extra import libdevice


@tileon.jit
def powers(x_ptr, out_ptr, n, P: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, libdevice.pow(x, P), mask=i < n)


@tileon.jit
def gelu_slope(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    t = libdevice.tanh(0.79788456 * x * (1 + 0.044715 * libdevice.pow(x, 2)))
    tl.store(out_ptr + i, (1 - libdevice.pow(t, 2)) * (0.79788456 + 0.1070322243 * libdevice.pow(x, 2)), mask=i < n)


def power(x, p):
    """IEEE's pow."""
    try:
        return math.pow(x, p)
    except OverflowError:
        return math.copysign(math.inf, x) if p % 2 == 1 else math.inf
    except ValueError:  # 0 to a negative power, a root of a negative number
        return math.nan if x else math.copysign(math.inf, x) if p == -1 else math.inf


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("p", [0, 1, 2, 3, 4, 5, -1, -2, 0.5, 1.5, -0.5, 2.0, 3.0])
def test_powers(device, dtype, p):
    count = 301
    x = torch.randn(count, dtype=torch.float64, device="cpu", generator=torch.Generator("cpu").manual_seed(3)) * 3
    x[:8] = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0], dtype=x.dtype)
    x[8:14] = torch.tensor([1e-30, -1e-30, 1e30, -1e30, 3e12, 1e-10], dtype=x.dtype)
    x = x.to(dtype)
    out = torch.full((count,), 7.0, dtype=dtype, device=device)
    powers[(3,)](x.to(device), out, count, p, 128)
    wanted = torch.tensor([power(v, p) for v in x.double().tolist()], dtype=torch.float64, device="cpu")
    got, rounded = out.cpu(), wanted.to(dtype)
    assert torch.equal(got.isnan(), rounded.isnan())
    places = torch.finfo(dtype)
    allowed = 2 * places.eps * wanted.abs() + 2 * places.smallest_normal * places.eps
    off = (got.double() - wanted).abs()
    fine = got.isnan() | (got.double() == rounded.double()) | (off <= allowed)
    assert fine.all(), (x[~fine], got[~fine], wanted[~fine])
    zeros = (rounded == 0) & (x.double().abs() < 1)
    assert torch.equal(torch.signbit(got[zeros]), torch.signbit(rounded[zeros]))


def test_slope_of_gelu(device):
    x = torch.randn(200, device="cpu", generator=torch.Generator("cpu").manual_seed(4)) * 2
    out = torch.full((200,), math.nan, device=device)
    gelu_slope[(1,)](x.to(device), out, 200, 256)
    d = x.double()
    t = torch.tanh(0.79788456 * d * (1 + 0.044715 * d**2))
    wanted = (1 - t**2) * (0.79788456 + 0.1070322243 * d**2)
    assert (out.cpu().double() - wanted).abs().max() < 2e-6
