"""Indices that number a tensor's elements through: places come from quotients and remainders (`i // width * stride + i % width`),
as generated pointwise kernels, padding and windows have them. Elements are moved, so results are exact."""

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

WIDTHS = [1, 7, 15, 16, 17, 100, 1000, 5000]
BLOCKS = [32, 256, 1024]


def truncated(a, b):
    """The quotient and remainder of C."""
    quotient = np.sign(a) * (np.abs(a) // b)
    return quotient, a - quotient * b


@tileon.jit
def copy_views(x, y, n, first, inner, middle, x0, x1, x2, y0, y1, y2, shift, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    i = at + first
    k = i % inner
    rest = i // inner
    j = rest % middle
    rest = rest // middle
    value = tl.load(x + rest * x0 + j * x1 + k * x2 + shift, mask=at < n)
    tl.store(y + rest * y0 + j * y1 + k * y2 + shift, value, mask=at < n)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("inner", WIDTHS)
def test_views_of_three_dimensions(inner, block, device):
    rng = np.random.default_rng([inner, block])
    for dtype in (torch.float32, torch.float16, torch.int8, torch.int64, torch.float64):
        middle, n, first = int(rng.integers(1, 40)), int(rng.integers(1, 3000)), int(rng.choice([0, 3, -50, -2 * inner - 1]))
        x2, y2 = (int(v) for v in rng.choice([1, 1, 2], 2))
        x1, y1 = inner * x2 + int(rng.integers(0, 5)), inner * y2 + int(rng.integers(0, 5))
        x0, y0 = middle * x1 + 3, middle * y1
        i = np.arange(n) + first
        rest, k = truncated(i, inner)
        rest, j = truncated(rest, middle)
        source, target = rest * x0 + j * x1 + k * x2, rest * y0 + j * y1 + k * y2
        shift = -int(min(source.min(), target.min(), 0))
        x = torch.from_numpy(rng.integers(-100, 100, int(source.max()) + shift + 1)).to(dtype)
        y = torch.full((int(target.max()) + shift + 1,), 77).to(dtype)
        expected = y.cpu().clone()
        expected[target + shift] = x[source + shift]
        copy_views[(tileon.cdiv(n, block),)](x.to(device), y, n, first, inner, middle, x0, x1, x2, y0, y1, y2, shift, block)
        assert torch.equal(y.cpu(), expected), (dtype, middle, n, first)


@tileon.jit
def padded(x, y, n, height, width, top, left, out_width, stride, value, FORM: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    row = at // out_width - top
    column = at % out_width - left
    if FORM == 0:
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    elif FORM == 1:
        inside = (0 <= row) & (height > row) & (0 <= column) & (width > column)
    else:
        inside = (row > -1) & (row <= height - 1) & (-1 < column) & (width - 1 >= column)
    got = tl.load(x + row * stride + column, mask=inside & (at < n), other=value)
    tl.store(y + at, tl.where(column * 2 < width, got, -got), mask=at < n)


@pytest.mark.pairs
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8])
@pytest.mark.parametrize("form", range(3))
@pytest.mark.parametrize("width", WIDTHS[:-1])
def test_padding(width, form, dtype, block, device):
    rng = np.random.default_rng([width, form, dtype.itemsize, block])
    height, top, left, bottom, right = (int(v) for v in rng.integers(1, 20, 5))
    stride = width + int(rng.integers(0, 3))
    x = torch.from_numpy(rng.integers(-100, 100, height * stride)).to(dtype)
    view = x.as_strided((height, width), (stride, 1))
    expected = torch.nn.functional.pad(view.double(), (left, right, top, bottom), value=5).to(dtype)
    columns = torch.arange(expected.shape[1], device="cpu") - left
    expected = torch.where(columns * 2 < width, expected, -expected)
    y = torch.full_like(expected, 77, device=device)
    grid = (tileon.cdiv(y.numel(), block),)
    padded[grid](x.to(device), y, y.numel(), height, width, top, left, y.shape[1], stride, 5, form, block)
    assert torch.equal(y.cpu(), expected)


@tileon.jit
def by_constants(x, bias, y, n, WIDTH: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)[:]
    row, column = at // WIDTH, at % WIDTH
    value = tl.load(x + column * 40 + row, mask=at < n) + tl.load(bias + column)
    tl.store(y + at, value, mask=at < n)


@pytest.mark.parametrize("width", [3, 16, 64, 100, 3000])
def test_constant_widths(width):
    x, bias = torch.randint(-100, 100, (width, 40)), torch.randint(-100, 100, (width,))
    y = torch.full((40, width), 777)
    by_constants[(tileon.cdiv(y.numel(), 512),)](x, bias, y, y.numel(), width, 512)
    assert torch.equal(y, x.T + bias)


@tileon.jit
def tiles(x, y, height, width, wide, BH: tl.constexpr, BW: tl.constexpr):
    row = tl.program_id(0) * BH + tl.arange(0, BH)
    column = tl.program_id(1) * BW + tl.arange(0, BW)
    number = row[:, None] * width + column[None, :]
    there = (row < height)[:, None] & (column < width)[None, :]
    turned = number // height + number % height * wide
    same = number // wide * wide + number % wide
    both = tl.load(x + same, mask=there, other=0) + tl.load(x + turned, mask=there, other=0)
    tl.store(y + number, both, mask=there)


@pytest.mark.parametrize(("height", "width"), [(20, 30), (64, 64), (33, 100)])
def test_tiles_whose_elements_are_numbered_through(height, width):
    x = torch.randint(-100, 100, (height * width,))
    y = torch.full((height, width), 777)
    tiles[(tileon.cdiv(height, 4), tileon.cdiv(width, 64))](x, y, height, width, width, 4, 64)
    number = torch.arange(height * width)
    assert torch.equal(y.flatten(), x + x[number // height + number % height * width])
