"""Masks that say where there is nothing: negated, and one condition or the other but not both."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit(do_not_specialize=["low", "high", "step", "n"])
def outside(x, out, low, high, step, n, way: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = (i.to(tl.int64) if WIDE else i) * step - 5
    if way == "not below":
        mask = ~(j < low)
    elif way == "not above":
        mask = ~(j > high)
    elif way == "not between":
        mask = ~((j >= low) & (j < high))
    else:
        mask = (j >= low) ^ (j < high)
    mask = mask & ~(i >= n)
    tl.store(out + i, tl.load(x + i, mask=mask, other=-1), mask=~(i >= n))
    tl.store(out + n + i, i, mask=mask)


@pytest.mark.pairs
@pytest.mark.parametrize("way", ["not below", "not above", "not between", "one of both"])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.float16])
def test_elements_outside(device, way, wide, dtype):
    for n, block in ((1, 32), (100, 32), (250, 128)):
        for low, high, step in ((0, 60, 1), (40, 20, 1), (-9, 900, 3), (30, 30, 1), (-700, -100, -4), (0, 0, 0)):
            x = torch.randint(0, 9, (n,), device="cpu").to(dtype)
            i = torch.arange(n, device="cpu")
            j = i * step - 5
            between = (j >= low) & (j < high)
            masks = {"not below": j >= low, "not above": j <= high, "not between": ~between}
            mask = masks.get(way, (j >= low) ^ (j < high))
            fill = -1.0 if dtype.is_floating_point else -1
            expected = torch.full((2 * n + block,), 77, dtype=dtype, device="cpu")
            expected[:n] = torch.where(mask, x, torch.tensor(fill, dtype=dtype, device="cpu"))
            expected[n : 2 * n][mask] = i[mask].to(dtype)
            out = torch.full_like(expected, 77).to(device)
            outside[(-(-n // block),)](x.to(device), out, low, high, step, n, way, wide, block)
            assert torch.equal(out.cpu(), expected), (n, low, high, step)
