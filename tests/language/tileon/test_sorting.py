"""sort and topk of rows of every length: a few elements, more than a block compares at once, no power of two."""

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def order(x_ptr, up_ptr, down_ptr, top_ptr, least_ptr, R: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FIRST: tl.constexpr):
    rows, columns, few = tl.arange(0, R)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)[None, :]
    x = tl.load(x_ptr + rows * N + columns)
    if FIRST:
        tl.store(up_ptr + rows * N + columns, tl.trans(tl.sort(tl.trans(x), 0)))
    else:
        tl.store(up_ptr + rows * N + columns, tl.sort(x))
    tl.store(down_ptr + rows * N + columns, tl.sort(x, descending=True))
    tl.store(top_ptr + rows * K + few, tl.topk(x, K))
    tl.store(least_ptr + rows * K + few, tl.topk(x, K, descending=False))


def values(dtype, *shape):
    """Each value several times; of floats zeros of both signs and NaNs, too."""
    generator = np.random.default_rng(5)
    x = generator.integers(-shape[-1] // 3, shape[-1] // 3, shape)
    if not dtype.is_floating_point:
        return torch.from_numpy(x).to(dtype)
    x = x / 8
    x[generator.random(shape) < 0.02] = np.nan
    x[generator.random(shape) < 0.05] = -0.0
    return torch.from_numpy(x).to(dtype)


def ordered(x, down):
    """-0 below 0, and NaNs last in both directions."""
    x = x.double() if x.is_floating_point() else x.to(torch.int64)
    key, zeros = (-x, ~torch.signbit(x)) if down else (x, torch.signbit(x))
    nan = torch.isnan(x) if x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)
    key = torch.where(nan, float("inf") if x.is_floating_point() else 0, key)
    order = torch.sort((~zeros).to(torch.int8), dim=1, stable=True).indices
    return torch.gather(x, 1, torch.gather(order, 1, torch.sort(torch.gather(key, 1, order), dim=1, stable=True).indices))


def same(got, wanted):
    """The same values, zeros with their signs."""
    got, wanted = (t.cpu().double().numpy() for t in (got, wanted))
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got) & (got == 0), np.signbit(wanted) & (wanted == 0))


@pytest.mark.parametrize("n", [5, 64, 257, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int32, torch.uint8])
def test_rows(device, dtype, n):
    rows, k, x = 3, min(n, 7), values(dtype, 3, n)
    up, down = torch.empty_like(x, device=device), torch.empty_like(x, device=device)
    top, least = (torch.empty(rows, k, dtype=dtype) for _ in range(2))
    order[(1,)](x.to(device), up, down, top, least, rows, n, k, n == 64)
    same(up, ordered(x.cpu(), False))
    same(down, ordered(x.cpu(), True))
    same(top, ordered(x.cpu(), True)[:, :k])
    same(least, ordered(x.cpu(), False)[:, :k])


@tileon.jit
def long_row(x_ptr, y_ptr, top_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.sort(x))
    tl.store(top_ptr + tl.program_id(0) * 128 + tl.arange(0, 128), tl.topk(x, 128))


def test_long_rows(device):
    x = torch.randn(2, 16384)
    y, top = torch.empty_like(x), torch.empty(2, 128)
    long_row[(2,)](x, y, top, 16384)
    assert torch.equal(y, x.sort(1).values) and torch.equal(top, x.topk(128).values)


@tileon.jit
def kept(x_ptr, y_ptr, R: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    rows = tl.arange(0, R)[:, None]
    best = tl.topk(tl.load(x_ptr + rows * N + tl.arange(0, N)[None, :]), K, descending=DOWN)
    tl.store(y_ptr + rows * K + tl.arange(0, K)[None, :], best)


SHAPES = [(1, 1024, 8, 4), (1, 512, 64, 4), (4, 64, 4, 1), (8, 100, 1, 2), (1, 1024, 512, 8)]


@pytest.mark.parametrize("rows, n, k, warps", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float16])
def test_few_of_many(device, rows, n, k, warps, dtype):
    """Of parts as long as what is kept, the better half goes on: in a thread, between threads, between warps."""
    x, y = values(dtype, rows, n), torch.full((rows, k), 77, dtype=dtype, device=device)
    for down in (True, False):
        kept[(1,)](x.to(device), y, rows, n, k, down, num_warps=warps)
        same(y, ordered(x, down)[:, :k])
