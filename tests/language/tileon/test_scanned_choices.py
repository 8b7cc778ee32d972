"""Scans whose bracketing makes no difference, within vectors: maxima with their places, ties to either side, NaNs anywhere,
sums of integers; to the bit as the interpreter has them, in both directions, with ends anywhere in a vector."""

import re

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def later(a, i, b, j):
    """The greatest, NaNs first; of equal ones the later, as torch.cummax."""
    above = (a > b) | ((a != a) & (b == b))
    equal = (a == b) | ((a != a) & (b != b))
    above |= equal & (i > j)
    return tl.where(above, a, b), tl.where(above, i, j)


@tileon.jit
def earlier(a, i, b, j):
    keep = ~((b < a) | (b != b))
    return tl.where(keep, a, b), tl.where(keep, i, j)


@tileon.jit
def unordered(a, i, b, j):
    """What comes behind a NaN depends on what is before it: order counts."""
    above = a > b
    return tl.where(above, a, b), tl.where(above, i, j)


@tileon.jit
def add(a, b):
    return a + b


@tileon.jit
def pairs(x, value, place, n, N: tl.constexpr, REVERSE: tl.constexpr, COMBINE: tl.constexpr):
    at = tl.arange(0, N)
    here = tl.program_id(0) * n + at
    v, p = tl.associative_scan((tl.load(x + here, mask=at < n, other=float("-inf")), at), 0, COMBINE, reverse=REVERSE)
    tl.store(value + here, v, mask=at < n)
    tl.store(place + here, p, mask=at < n)


@tileon.jit
def sums(x, out, n, N: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, N)
    here = tl.program_id(0) * n + at
    v = tl.load(x + here, mask=at < n, other=0)
    tl.store(out + here, tl.associative_scan(v, 0, add, reverse=REVERSE), mask=at < n)


def bits(tensor):
    return tensor.view({2: torch.int16, 4: torch.int32}[tensor.element_size()])


@pytest.mark.pairs
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("combine", [later, earlier, unordered])
@pytest.mark.parametrize(("tile", "n"), [(64, 64), (64, 50), (48, 48), (20, 17), (16, 3), (128, 127), (4, 4)])
def test_pairs(device, tile, n, combine, reverse):
    torch.manual_seed(n)
    for dtype in (torch.float32, torch.float16):
        x = torch.randint(-3, 3, (5, n)).to(dtype)
        x[1] = torch.arange(n).to(dtype)
        if combine is not unordered or str(device) == "cpu":  # GPUs meet lanes in an order of their own
            x[torch.rand(5, n) < 0.1] = float("nan")
        x[torch.rand(5, n) < 0.1] = -0.0
        results = []
        for debug in (False, True):
            value, place = torch.zeros_like(x), torch.zeros(5, n, dtype=torch.int32)
            pairs[(5,)](x, value, place, n, tile, reverse, combine, debug=debug)
            results.append((bits(value).cpu(), place.cpu()))
        assert torch.equal(results[0][0], results[1][0]) and torch.equal(results[0][1], results[1][1])
        if combine is later and not reverse:
            expected = torch.cummax(x, 1)
            assert torch.equal(value.nan_to_num(7), expected.values.nan_to_num(7)) and torch.equal(place.long(), expected.indices)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
@pytest.mark.parametrize(("tile", "n"), [(64, 64), (64, 50), (20, 17), (128, 127), (4, 4)])
def test_sums(device, tile, n, dtype, reverse):
    torch.manual_seed(n)
    x = torch.randint(-100, 100, (5, n)).to(dtype)
    out = torch.zeros_like(x)
    sums[(5,)](x, out, n, tile, reverse)
    expected = x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)
    assert torch.equal(out, expected.to(dtype))


def test_rows_are_vectors(device):
    """Elements of a vector are combined with those 1, 2, 4, ... lanes before them."""
    x, place = torch.zeros(5, 64), torch.zeros(5, 64, dtype=torch.int32)
    codes = [pairs[(5,)](x, torch.zeros_like(x), place, 64, 64, False, combine).asm["llvm"] for combine in (later, unordered)]
    moved = [bool(re.search(r"shufflevector .*<i32 0, i32 0, i32 1, i32 2,", code)) for code in codes]
    assert device == "cuda" or moved == [True, False]
