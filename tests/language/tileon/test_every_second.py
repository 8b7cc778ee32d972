"""Every second element of memory, every third, every n-th: exactly those that exist, to the last byte of a page behind
which nothing may be read."""

import re

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

from ..pages import at_the_end_of_a_page

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64]


@tileon.jit
def halves(x, first, second, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(first + at, tl.load(x + 2 * at, mask=at < n, other=OTHER))
    tl.store(second + at, tl.load(x + 2 * at + 1, mask=(at < n) & (at % 3 != 1), other=OTHER))


@tileon.jit
def pooled(x, out, H, W, BLOCK: tl.constexpr):
    plane, row, column = tl.program_id(1), tl.program_id(0), tl.arange(0, BLOCK)
    here = x + (plane * 2 * H + 2 * row) * 2 * W + 2 * column
    upper = tl.maximum(tl.load(here, mask=column < W), tl.load(here + 1, mask=column < W))
    lower = tl.maximum(tl.load(here + 2 * W, mask=column < W), tl.load(here + 2 * W + 1, mask=column < W))
    tl.store(out + (plane * H + row) * W + column, tl.maximum(upper, lower), mask=column < W)


@tileon.jit
def whole(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + 2 * at) - tl.load(x + 2 * at + 1))


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("n", [1, 7, 16, 61, 300])
@pytest.mark.parametrize("dtype", TYPES)
def test_halves(device, dtype, n):
    values = torch.arange(2 * n).remainder(120).to(dtype)
    x, memory = at_the_end_of_a_page(values) if device == "cpu" else (values.to(device), None)
    first, second = (torch.zeros(-(-n // 64) * 64, dtype=dtype, device=device) for _ in range(2))
    halves[(-(-n // 64),)](x, first, second, n, 3, 64)
    wanted = torch.full((2, first.numel()), 3, dtype=dtype)
    wanted[:, :n] = values.view(n, 2).t()
    wanted[1, 1::3] = 3
    assert torch.equal(first.cpu(), wanted[0]) and torch.equal(second.cpu(), wanted[1])
    del x
    assert memory is None or len(memory)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("dtype", TYPES[:4])
@pytest.mark.parametrize("columns", [5, 28, 64])
def test_pooling(device, dtype, columns):
    x = torch.randn(3, 14, 2 * columns).to(dtype)
    out = torch.empty(3, 7, columns, dtype=dtype, device=device)
    pooled[(7, 3)](x.to(device), out, 7, columns, 64)
    assert torch.equal(out.cpu(), x.view(3, 7, 2, columns, 2).amax((2, 4)))


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("dtype", TYPES)
def test_whole_vectors(device, dtype):
    values = torch.arange(256).remainder(113).to(dtype)
    x, _memory = at_the_end_of_a_page(values) if device == "cpu" else (values.to(device), None)
    out = torch.empty(128, dtype=dtype, device=device)
    whole[(1,)](x, out, 128)
    assert torch.equal(out.cpu(), values[::2] - values[1::2])


@tileon.jit
def apart(x, known, given, n, step, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(known + at, tl.load(x + at * STEP, mask=at < n), mask=at < n)
    tl.store(given + n - 1 - at, tl.load(x + (n - 1) * step - at * step, mask=at < n), mask=at < n)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("n", [1, 64, 150])
@pytest.mark.parametrize("step", [3, 9, 40])
@pytest.mark.parametrize("dtype", TYPES)
def test_apart(device, dtype, step, n):
    values = torch.arange((n - 1) * step + 1).remainder(120).to(dtype)
    x, memory = at_the_end_of_a_page(values) if device == "cpu" else (values.to(device), None)
    known, given = (torch.zeros(n, dtype=dtype, device=device) for _ in range(2))
    kernel = apart[(-(-n // 64),)](x, known, given, n, step, step, 64)
    assert torch.equal(known.cpu(), values[::step]) and torch.equal(given.cpu(), values[::step])
    if device == "cpu" and dtype == torch.float32:
        loop = re.search(r"load <?float.*\n.*insertelement", kernel.asm["llvm"])
        assert loop, "where all lanes exist each is loaded by itself"
    del x
    assert memory is None or len(memory)
