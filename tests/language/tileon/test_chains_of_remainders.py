"""Places that operator libraries find by a chain of remainders down to the last dimension, whose stride is one: divisions by one,
and what a chain of three divisions says twice, of where an element lies and whether it exists."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def padded(x, out, s0, s1, s2, o0, o1, o2, b0, b1, b2, h, w, d, n, value, REFLECT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = at // o0
    rest = at - i * o0
    j = rest // o1
    rest = rest - j * o1
    k = rest // o2
    i, j, k = i - b0, j - b1, k - b2
    inside = (i >= 0) & (i < h) & (j >= 0) & (j < w) & (k >= 0) & (k < d)
    if REFLECT:
        i, j, k = tl.abs(i), tl.abs(j), tl.abs(k)
        i = tl.where(i < h, i, 2 * (h - 1) - i)
        j = tl.where(j < w, j, 2 * (w - 1) - j)
        k = tl.where(k < d, k, 2 * (d - 1) - k)
        v = tl.load(x + i * s0 + j * s1 + k * s2, mask=at < n, other=0)
    else:
        v = tl.load(x + i * s0 + j * s1 + k * s2, mask=inside & (at < n), other=value)
    tl.store(out + at, v, mask=at < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
@pytest.mark.parametrize("width", [2, 8, 17, 113])
def test_padding(width, dtype, device):
    x = torch.randint(-100, 100, (3, 5, width), device="cpu").to(dtype)
    value = 7
    for pads in ((0, 0, 0, 0, 0, 0), (1, 0, 2, 1, 1, 2), (1, 1, 0, 3, 0, 1)):
        for reflect in (False, True):
            wanted = (
                F.pad(x.double()[None], pads, "reflect")[0].to(dtype) if reflect else F.pad(x, pads, "constant", value)
            )
            out = torch.full((wanted.numel() + 64,), 99, device="cpu").to(dtype).to(device)
            given = x.to(device)
            n = wanted.numel()
            block = 64 if width < 40 else 256
            padded[(-(-n // block),)](
                given,
                out,
                *x.stride(),
                *wanted.stride(),
                *pads[4::-2],
                *x.shape,
                n,
                value,
                reflect,
                block,
            )
            assert torch.equal(out[:n].cpu(), wanted.flatten()), (pads, reflect)
            assert bool((out[n:].cpu() == 99).all())


@tileon.jit
def divided(x, out, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, v // by, mask=i < n)
    tl.store(out + n + i, v % by, mask=i < n)
    tl.store(out + 2 * n + i, v // 1, mask=i < n)
    tl.store(out + 3 * n + i, v % 1, mask=i < n)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("by", [1, 2])
def test_quotients_by_one(by, dtype, device):
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    x = torch.tensor([least, least + 1, 0, 1, 2, most - 1, most] * 20, dtype=dtype, device="cpu")
    out = torch.full((4 * x.numel(),), 55, dtype=dtype, device="cpu").to(device)
    divided[(2,)](x.to(device), out, x.numel(), by, 128)
    quotient, rest, same, none = out.cpu().view(4, -1)
    values = x.numpy().astype(object)
    towards_zero = np.array([abs(int(v)) // by * (1 if v >= 0 else -1) for v in values], dtype=object)
    assert (quotient.numpy().astype(object) == towards_zero).all()
    assert (rest.numpy().astype(object) == values - towards_zero * by).all()
    assert torch.equal(same, x) and not none.any()
