"""Tiles that a loop carries and that say where the next turn loads: searches by halves, chains of places."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def nearest(x_ptr, code_ptr, out_ptr, n, STEPS: tl.constexpr, COUNT: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr):
    """The place of each number in an increasing table, in tiles of one row or of several."""
    i = tl.program_id(0) * (ROWS * N) + tl.arange(0, ROWS * N)
    x = tl.reshape(tl.load(x_ptr + i, mask=i < n, other=0.0), (ROWS, N))
    low = tl.zeros((ROWS, N), dtype=tl.int32)
    high = tl.full((ROWS, N), COUNT - 1, dtype=tl.int32)
    for _ in range(STEPS):
        middle = (low + high) // 2
        above = x > tl.load(code_ptr + middle)
        low = tl.where(above, middle, low)
        high = tl.where(above, high, middle)
    below, over = tl.abs(x - tl.load(code_ptr + low)), tl.abs(x - tl.load(code_ptr + high))
    found = tl.where(below <= over, low, high)
    tl.store(out_ptr + i, tl.reshape(found, (ROWS * N,)).to(tl.uint8), mask=i < n)


@tileon.jit
def followed(next_ptr, out_ptr, n, STEPS: tl.constexpr, SWAP: tl.constexpr, N: tl.constexpr):
    """Chains; `SWAP`: two that change places each turn."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    at, other = i % n, (i * 7 + 3) % n
    for k in range(STEPS):
        fresh = tl.load(next_ptr + at)
        if SWAP:
            at, other = other, fresh
        else:
            at = fresh
            other = other + fresh * k
    tl.store(out_ptr + i, at * 1000 + other % 1000, mask=i < n)


@pytest.mark.parametrize("rows, width", [(1, 256), (1, 64), (4, 64), (1, 1024), (256, 1)])
@pytest.mark.parametrize("count, steps", [(256, 8), (16, 4)])
def test_nearest(device, rows, width, count, steps):
    generator = torch.Generator("cpu").manual_seed(5)
    code = torch.sort(torch.randn(count, generator=generator, device="cpu")).values
    x = torch.randn(777, generator=generator, device="cpu")
    out = torch.full((777,), 99, dtype=torch.uint8, device=device)
    nearest[(-(-777 // (rows * width)),)](x.to(device), code.to(device), out, 777, steps, count, rows, width)
    low, high = torch.zeros(777, dtype=torch.int64, device="cpu"), torch.full((777,), count - 1, device="cpu")
    for _ in range(steps):
        middle = (low + high) // 2
        above = x > code[middle]
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    wanted = torch.where((x - code[low]).abs() <= (x - code[high]).abs(), low, high)
    assert torch.equal(out.cpu().long(), wanted)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("block", [32, 128, 512])
def test_followed(device, swap, block):
    n, steps = 600, 5
    following = torch.randperm(n, generator=torch.Generator("cpu").manual_seed(6), device="cpu").int()
    out = torch.full((n,), -1, dtype=torch.int32, device=device)
    followed[(-(-n // block),)](following.to(device), out, n, steps, swap, block)
    i = torch.arange(n, device="cpu")
    at, other = i % n, (i * 7 + 3) % n
    for k in range(steps):
        fresh = following[at].long()
        at, other = (other, fresh) if swap else (fresh, other + fresh * k)
    assert torch.equal(out.cpu().long(), at * 1000 + other % 1000)
