"""Masks of flattened indices: numbers that rise, fall or stay along a row, compared in every way, joined, with any bounds."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def masked(x, out, n, width, low, high, row, far, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, line = at % width, at // width
    if WIDE:
        column, line = column.to(tl.int64), line.to(tl.int64)
    here = x + line * (2 * width) + column
    falls = width - column
    all = at < n
    total = tl.load(here, mask=all & (column >= low) & (column < high), other=-1.0).to(tl.float32)
    total += 2 * tl.load(here + 1, mask=all & (column > low) & (column <= high) & (line != row), other=-2.0)
    total += 4 * tl.load(here + 2, mask=all & (falls > low) & (falls <= high), other=-3.0)
    total += 8 * tl.load(here + 3, mask=(falls >= low) & (falls < high) & (line < row) & all, other=-4.0)
    total += 16 * tl.load(here + 4, mask=all & (low <= column) & (column + far > high) & (column % 3 != 1), other=-5.0)
    total += tl.where((column < far) & (falls > high) & (line >= row), 0.5, 0.25)
    tl.store(out + at, total, mask=all)


@pytest.mark.pairs
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8, torch.float64])
@pytest.mark.parametrize(
    ("width", "low", "high", "row", "far"),
    [(53, 1, 52, 3, 9), (64, 0, 64, 0, -3), (100, 40, 20, 2, 200), (37, -5, 1 << 30, 99, -(1 << 30)), (200, 17, 33, 1, 1 << 30)],
)
def test_masks(device, width, low, high, row, far, dtype, wide):
    lines = 6
    n = width * lines - 5
    x = torch.randint(0, 3, (2 * width * lines + 8,)).to(dtype)
    results = []
    for debug in (False, True):
        out = torch.full((n + 16,), -77.0)
        masked[(-(-n // 256),)](x, out, n, width, low, high, row, far, wide, 256, debug=debug)
        results.append(out)
    assert torch.equal(*results)


LEAST, MOST = -(1 << 63), (1 << 63) - 1


@pytest.mark.parametrize(
    ("low", "high"),
    [(MOST, 5), (5, MOST), (1 << 62, -(1 << 62)), (-(1 << 62), 1 << 62), (3, LEAST), (LEAST, 3), (LEAST, MOST), (MOST, LEAST)],
)
def test_bounds_of_any_size(device, low, high):
    """Differences of what is compared leave 64 bits, or nearly."""
    width, n = 53, 53 * 5
    x = torch.rand(4 * n)
    results = []
    for debug in (False, True):
        out = torch.full((n,), -77.0)
        masked[(2,)](x, out, n, width, low, high, 2, 1, True, 256, debug=debug)
        results.append(out)
    assert torch.equal(*results)


@tileon.jit
def far_apart(x, out, n, STEP: tl.constexpr, HOW: tl.constexpr):
    i = tl.arange(0, 8)
    at = i.to(tl.int64) * STEP
    mask = at < n if HOW == "less" else n <= at if HOW == "not less" else at > n
    tl.store(out + i, tl.load(x + i, mask=mask, other=-1.0))


@pytest.mark.pairs
@pytest.mark.parametrize("how", ["less", "not less", "greater"])
@pytest.mark.parametrize("step", [1 << 57, 1 << 59, (1 << 60) - 1, 1 << 60, -(1 << 60)])
@pytest.mark.parametrize("n", [LEAST, MOST, 5 << 60, (5 << 60) + 1, -(6 << 60), (1 << 62) + 3])
def test_lanes_as_far_apart_as_bounds(device, n, step, how):
    x = torch.rand(8)
    results = []
    for debug in (False, True):
        out = torch.full((8,), -77.0)
        far_apart[(1,)](x, out, n, step, how, debug=debug)
        results.append(out)
    assert torch.equal(*results)
