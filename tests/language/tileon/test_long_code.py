"""Loops that a program unrolls into long code: code does not grow with their steps, and computes what each step says."""

import functools

import numpy as np
import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget

FACTORS = tuple(((k * 7919) % 1009) / 1009 for k in range(1200))


@tileon.jit
def counted(x_ptr, o_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Whole numbers, and numbers that are rounded."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in tl.static_range(N):
        x = tl.where(x > 0.5, tl.sin(x), tl.exp(-x) * 0.5) * 0.5 + k % 3 + k * 0.1
        x = tl.where(x > k, x * 0.25, x / (k + 2))
    tl.store(o_ptr + i, x)


@tileon.jit
def two_back(x_ptr, o_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """The results of two steps before; some steps do more; memory in between."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = a * 0.5
    for k in tl.static_range(N):
        c = 0.25 * (tl.sin(a + b) + tl.load(x_ptr + (i * 3 + k) % BLOCK, mask=i + k > 7, other=0.5))
        if k % 4 == 1:
            c += 0.125 * a
        a = b
        b = c
    tl.store(o_ptr + i, a - b)


@tileon.jit
def listed(x_ptr, o_ptr, N: tl.constexpr, BLOCK: tl.constexpr, C: tl.constexpr):
    """Numbers that go on in no way, of floats and of places; a branch on a sum."""
    i = tl.arange(0, BLOCK)
    y = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(N):
        y = 0.5 * tl.cos(y) + C[k] + tl.load(x_ptr + (i + k * k) % BLOCK)
        if tl.sum(y) > BLOCK * 1.5:
            y = y - C[N - 1 - k] * 0.5
        else:
            y = y * 0.5
    tl.store(o_ptr + i, y)


@tileon.jit
def kept(x_ptr, o_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Integers that wrap, and a store of each step."""
    i = tl.arange(0, BLOCK)
    h = (tl.load(x_ptr + i) * 1000).to(tl.uint32)
    for k in tl.static_range(N):
        h = (h ^ (h >> 7)) * 1664525 + 1013904 * k
        tl.store(o_ptr + (k % 8) * BLOCK + i, (h >> 8).to(tl.float32))


@tileon.jit
def stored(x_ptr, o_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Steps that hand nothing on but through memory: stores in place, updates at numbers that hang on the step."""
    i = tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i))
    for k in tl.static_range(N):
        tl.store(o_ptr + i, tl.load(o_ptr + i) * 0.5 + k)
        tl.atomic_add(o_ptr + BLOCK + (i * 7 + k) % BLOCK, (i + k).to(tl.float32), mask=i > k % 5)


@tileon.jit
def only_stored(o_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    for k in tl.static_range(N):
        tl.store(o_ptr + k + tl.arange(0, BLOCK), 0.5 + k)


def f32(value):
    return float(np.float32(value))


def counted_reference(x, n):
    x = x.double()
    for k in range(n):
        x = torch.where(x > 0.5, x.sin(), (-x).exp() * 0.5) * 0.5 + k % 3 + f32(k * 0.1)
        x = torch.where(x > k, x * 0.25, x / (k + 2))
    return x


def two_back_reference(x, n):
    x, i = x.double(), torch.arange(len(x), device="cpu")
    a, b = x, x * 0.5
    for k in range(n):
        c = 0.25 * ((a + b).sin() + torch.where(i + k > 7, x[(i * 3 + k) % len(x)], 0.5))
        a, b = b, c + 0.125 * a if k % 4 == 1 else c
    return a - b


def listed_reference(x, n):
    x, i = x.double(), torch.arange(len(x), device="cpu")
    y = torch.zeros_like(x)
    for k in range(n):
        y = 0.5 * y.cos() + f32(FACTORS[k]) + x[(i + k * k) % len(x)]
        y = y - f32(FACTORS[n - 1 - k]) * 0.5 if y.sum() > len(x) * 1.5 else y * 0.5
    return y


# In units of 2^-24, what a step adds by rounding, over one less what it keeps of the errors before:
# counted: results below 1 of three roundings, and a sine's, of 2^-24 of the value each; hardly anything is kept;
# two_back: a quarter of a sum below 2 (1), a sine (1) and its argument (1/2); 5/8 is kept, and two results are subtracted;
# listed: two sums below 4 (2 each), a cosine's half (1/2), a last sum below 2 (1); half is kept.
BOUNDED = [(counted, counted_reference, 4), (two_back, two_back_reference, 4), (listed, listed_reference, 12)]


@pytest.mark.parametrize("kernel, reference, most", BOUNDED)
@pytest.mark.parametrize("n", [3, 150, 203, 400])
def test_each_step_counts(engine, device, kernel, reference, most, n):
    torch.manual_seed(n)
    x = torch.rand(32, device="cpu")
    out = torch.full((32,), float("nan"), device=device)
    kernel[(1,)](x.to(device), out, n, 32, **({"C": FACTORS} if kernel is listed else {}))
    torch.testing.assert_close(out.cpu().double(), reference(x, n), rtol=0, atol=most * 2.0**-24)


@pytest.mark.parametrize("n", [5, 170, 333])
def test_integers_wrap_and_stores_keep_their_order(engine, device, n):
    x = torch.rand(64, device="cpu")
    out = torch.full((8, 64), float("nan"), device=device)
    kept[(1,)](x.to(device), out, n, 64)
    h, expected = (x * 1000).to(torch.int64), torch.full((8, 64), float("nan"), device="cpu")
    for k in range(n):
        h = ((h ^ (h >> 7)) * 1664525 + 1013904 * k) & 0xFFFFFFFF
        expected[k % 8] = (h >> 8).float()
    torch.testing.assert_close(out.cpu(), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("n", [5, 170, 333])
def test_steps_that_hand_on_nothing(engine, device, n):
    x, i = torch.rand(32, device="cpu"), torch.arange(32, device="cpu")
    out = torch.zeros((2, 32), device=device)
    stored[(1,)](x.to(device), out, n, 32)
    halved, sums = x.double(), torch.zeros(32, dtype=torch.float64, device="cpu")
    for k in range(n):
        halved = halved * 0.5 + k
        sums[(i * 7 + k) % 32] += torch.where(i > k % 5, i + k, 0)  # whole numbers below 2^24
    # Rounding is off by 2^-24 of a sum. Half of the sum before is less than half of the sum (it is below 2 k, and k is added),
    # and so is what it was off: 2^-24 (1 + 1/2 + 1/4 ..) in all.
    torch.testing.assert_close(out[0].cpu().double(), halved, rtol=2.0**-23, atol=0)
    assert torch.equal(out[1].cpu().double(), sums)

    only = torch.full((1600 + 8,), float("nan"), device=device)
    only_stored[(1,)](only, 4 * n, 8)
    assert torch.equal(only[: 4 * n - 1].cpu(), torch.arange(4 * n - 1, device="cpu") + 0.5)
    assert torch.equal(only[4 * n - 1 : 4 * n + 7].cpu(), torch.full((8,), 4 * n - 0.5, device="cpu"))
    assert only[4 * n + 7 :].isnan().all()


@functools.cache
def module(kernel, n):
    constants = {"N": n, "BLOCK": 64, **({"C": FACTORS} if kernel is listed else {})}
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", **dict.fromkeys(constants, "constexpr")}
    return tileon.compile(tileon.compiler.ASTSource(kernel, signature, constants), GPUTarget("cuda", 90, 32)).module


@pytest.mark.parametrize("target", ["avx2", pytest.param("sm_80", marks=pytest.mark.long), "sm_90a"])
@pytest.mark.parametrize("kernel", [counted, two_back, listed, kept, stored])
def test_code_does_not_grow_with_the_steps(kernel, target):
    def size(n):
        return len(_native.compile(module(kernel, n), target=target, texts=True).llvm)

    # Four times the steps. Up to an iteration is left over; numbers that are listed are chosen of a list as long as the steps.
    few, many = size(300), size(1200)
    assert many < 2.5 * few, (few, many)
