"""Maxima and minima of floats in memory, updated by instructions for integers."""

import math

import pytest
import torch

from tilery.tileon import jit
from tilery.tileon import language as tl


@jit
def extremes(x_ptr, most_ptr, least_ptr, old_ptr, N, PLACES: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    x = tl.load(x_ptr + i, mask=i < N)
    old = tl.atomic_max(most_ptr + i % PLACES, x, mask=i < N)
    tl.store(old_ptr + i, old, mask=i < N)
    tl.atomic_min(least_ptr + i % PLACES, x, mask=i < N, sem="relaxed")


def run(x, places, start, device):
    most, least = (torch.tensor([start[0]] * places, dtype=x.dtype), torch.tensor([start[1]] * places, dtype=x.dtype))
    x, most, least = x.to(device), most.to(device), least.to(device)
    old = torch.empty_like(x)
    extremes[(-(-len(x) // 128),)](x, most, least, old, len(x), places)
    return most.cpu(), least.cpu(), old.cpu()


def check(x, places, start, device):
    most, least, old = run(x, places, start, device)
    for at in range(places):
        mine = [v for v in x[at::places].tolist() if not math.isnan(v)]
        highest, lowest = (v if not math.isnan(v) else w for v, w in zip(start, (-math.inf, math.inf), strict=True))
        assert most[at] == max([highest, *mine]) and least[at] == min([lowest, *mine])
    seen = old[~old.isnan()]
    assert bool((seen <= most.max()).all())  # what was there before an update


PLACES = [(1, torch.float32), (7, torch.float32), (1, torch.float64), (256, torch.float64)]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
STARTS = [(-math.inf, math.inf), (math.inf, -math.inf), (0.0, 0.0), (-1.0, 1.0), (math.nan, math.nan), (-math.nan, -math.nan)]


@pytest.mark.parametrize("start", STARTS, ids=str)
@pytest.mark.parametrize("places, dtype", PLACES, ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_extremes(device, places, dtype, start):
    torch.manual_seed(places)
    x = torch.randn(1500, dtype=dtype)
    x[::7], x[1::50], x[2::60] = 0.0, -0.0, math.nan
    x[3::61] = math.copysign(math.nan, -1)
    check(x, places, start, device)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("device", DEVICES)
def test_one_sign(device, sign):
    """All negative, all positive: then one of the two instructions alone is used."""
    x = sign * (torch.rand(1000) + 0.5)
    check(x, 3, (-math.inf, math.inf), device)
    check(x, 3, (0.0, 0.0), device)
