"""Bytes as floats, which GPUs make of a number that has them as its last bits; sums of their products as f32."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@tileon.jit
def converted(x_ptr, out_ptr, N: tl.constexpr, STEP: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out_ptr + at, tl.load(x_ptr + at * STEP).to(out_ptr.dtype.element_ty))


@tileon.jit
def summed(a_ptr, b_ptr, out_ptr, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Sums of f32 of each step's sums of integers, as products of quantised factors have them."""
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for step in range(steps):
        at = step * K + k
        a = tl.load(a_ptr + rows[:, None] * steps * K + at[None, :])
        b = tl.load(b_ptr + columns[None, :] * steps * K + at[:, None])
        sums += tl.dot(a, b)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], sums)


@pytest.mark.parametrize("to", FLOATS, ids=str)
@pytest.mark.parametrize("of", [torch.int8, torch.uint8], ids=str)
@pytest.mark.parametrize("n, step", [(256, 1), (2, 1), (128, 3)])
def test_all_bytes(device, of, to, n, step):
    numbers = torch.arange(256, device="cpu").to(of)
    memory = numbers.repeat_interleave(step).to(device)
    out = torch.full((256,), float("nan"), dtype=to, device=device)
    converted[(256 // n,)](memory, out, n, step)
    assert torch.equal(out.cpu(), numbers.to(to))
    assert not torch.signbit(out[numbers.to(device) == 0]).any()


@pytest.mark.parametrize("k", [32, 64, 512, 1024])
@pytest.mark.parametrize("a, b", [(-128, -128), (-128, 127), (127, 127), (0, 5), (None, None)])
def test_sums_of_products(device, k, a, b):
    m, n, steps = 64, 64, 2
    generator = torch.Generator("cpu").manual_seed(3)

    def factor(rows, number):
        if number is not None:
            return torch.full((rows, steps * k), number, dtype=torch.int8, device="cpu")
        return torch.randint(-128, 128, (rows, steps * k), generator=generator, device="cpu").to(torch.int8)

    left, right = factor(m, a), factor(n, b)
    out = torch.full((m, n), float("nan"), dtype=torch.float32, device=device)
    summed[(1,)](left.to(device), right.to(device), out, steps, m, n, k)
    assert torch.equal(out.cpu().double(), left.double() @ right.double().T)
