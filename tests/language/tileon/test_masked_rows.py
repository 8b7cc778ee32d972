"""Rows and columns that a mask leaves out, beside tiles: what lies behind them in memory must not be seen."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def outer(a, b, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    rows = tl.load(a + m, mask=m < M, other=0)
    columns = tl.load(b + n, mask=n < N, other=0)
    tl.store(out + m[:, None] * BN + n[None, :], rows[:, None] * columns[None, :])


@tileon.jit
def summed(a, b, c, out, steps, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(steps):
        at = steps - 1 - step  # the last row first: what follows it is no number
        rows = tl.load(a + at * M + m, mask=m < M, other=0)
        total += rows[:, None] * tl.load(b + at * N + n, mask=n < N, other=0)[None, :]
        weights = tl.load(c + at * M + m, mask=m < M, other=0)
        tl.store(out + at * N + n, tl.sum(total * weights[:, None], axis=0), mask=n < N)


@tileon.jit
def mask_as_data(out, M, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    kept = (m < M).to(tl.float32)
    tl.store(out + m[:, None] * BN + n[None, :], kept[:, None] + tl.zeros((BM, BN), tl.float32), mask=n[None, :] < BN - 1)


def behind(numbers, room=64):
    """The same numbers in memory that goes on with NaN."""
    memory = torch.full((numbers.numel() + room,), float("nan"), dtype=numbers.dtype)
    return memory[: numbers.numel()].copy_(numbers.flatten())


@pytest.mark.parametrize("M, N, BM, BN", [(20, 16, 32, 16), (20, 12, 32, 16), (1, 1, 8, 32), (5, 64, 8, 64), (0, 8, 4, 8)])
def test_outer_products(engine, M, N, BM, BN):
    a, b, out = torch.randn(M), torch.randn(N), torch.full((BM, BN), -7.0)
    outer[(1,)](behind(a), behind(b), out, M, N, BM, BN)
    wanted = torch.zeros(BM, BN)
    wanted[:M, :N] = a[:, None] * b
    assert torch.equal(out, wanted)
    constant = torch.full((BM, BN), -7.0)
    outer[(1,)](behind(a), behind(b), constant, tl.constexpr(M), tl.constexpr(N), BM, BN)
    assert torch.equal(constant, wanted)


@pytest.mark.parametrize("M, N, BM, BN", [(20, 12, 32, 16), (3, 9, 4, 16)])
def test_sums_that_a_loop_carries(engine, M, N, BM, BN):
    steps = 5
    a, b, c = torch.randn(steps, M), torch.randn(steps, N), torch.randn(steps, M)
    out = torch.full((steps, N), float("nan"))
    summed[(1,)](behind(a), behind(b), behind(c), out, steps, M, N, BM, BN)
    products = (a[:, :, None] * b[:, None, :]).double().flip(0).cumsum(0).flip(0)
    torch.testing.assert_close(out.double(), (products * c[:, :, None]).sum(1), rtol=1e-5, atol=1e-5)


def test_masks_as_numbers(engine):
    out = torch.full((32, 16), -7.0)
    mask_as_data[(1,)](out, 20, 32, 16)
    wanted = torch.full((32, 16), -7.0)
    wanted[:, :15] = (torch.arange(32) < 20).float()[:, None]
    assert torch.equal(out, wanted)


@tileon.jit
def window_sums(x, out, first, last, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    kept = (c >= first) & (c < last)
    tl.store(out + r, tl.sum(tl.load(x + r[:, None] + c[None, :], mask=kept[None, :], other=0.0), axis=1))


@tileon.jit
def shifted(x, out, rows, from_row, first, last, width, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    kept = (r < from_row)[:, None] & ((c >= first) & (c < last))[None, :]
    value = tl.load(x + r[:, None] + c[None, :], mask=kept, other=0.0)
    tl.store(out + r[:, None] * width + c[None, :], value + 1.0, mask=(r < rows)[:, None] & (c < width)[None, :])


@pytest.mark.parametrize("width", [8, 16, 32, 64, 128, 256])
def test_windows_that_lie_behind_a_tile(engine, width):
    """Their first column is beyond the tile's last one."""
    x = torch.randn(2 * width + 512)
    for first in (0, 3, width - 1, width, width + 1, width + 4, width + 20, width + 100):
        for last in (first, width, width + 300):
            out = torch.full((4,), 7.0)
            window_sums[(1,)](x, out, first, last, 4, width)
            wanted = torch.stack([x[i + first : i + max(first, min(last, width))].sum() for i in range(4)])
            torch.testing.assert_close(out, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("from_row", [-1, 0, 2, 4])
@pytest.mark.parametrize("width", [3, 9, 16])
def test_rows_without_elements_beside_windows_behind_a_tile(engine, width, from_row):
    """What is stored ends before the columns that are loaded begin."""
    x, memory = torch.randn(512), torch.full((4 * width + 64,), -7.0)
    for first in (0, 5, 16, 21):
        memory.fill_(-7.0)
        shifted[(1,)](x, memory, 3, from_row, first, first + 11, width, 4, 16)
        at = torch.arange(16)
        kept = [(at >= first) & (at < first + 11) & (r < from_row) for r in range(3)]
        wanted = torch.stack([torch.where(kept[r], x[r : r + 16], 0.0) for r in range(3)])
        assert torch.equal(memory[: 3 * width].view(3, width), wanted[:, :width] + 1)
        assert (memory[3 * width :] == -7).all()
