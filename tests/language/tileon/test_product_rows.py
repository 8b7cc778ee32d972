"""One product in a loop along k, and behind it work that mixes its lanes: softmax, norms and cross entropy of its rows."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

pytestmark = pytest.mark.gpu


@tileon.jit
def kernel(a, b, bias, out, rows, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WHAT: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.arange(0, N)
    ks = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        at = step * K + ks
        x = tl.load(a + m[:, None] * k + at[None, :], (m < rows)[:, None] & (at < k)[None, :], other=0.0)
        y = tl.load(b + at[:, None] * n + columns[None, :], (at < k)[:, None] & (columns < n)[None, :], other=0.0)
        total = tl.dot(x, y, total)
    total += tl.load(bias + columns, columns < n, other=0.0)[None, :]
    exists = (m < rows)[:, None] & (columns < n)[None, :]
    place = out + m[:, None] * n + columns[None, :]
    if WHAT == "softmax":
        low = tl.where((columns < n)[None, :], total, float("-inf"))
        power = tl.exp(low - tl.max(low, 1)[:, None])
        tl.store(place, power / tl.sum(power, 1)[:, None], exists)
    elif WHAT == "norm":
        mean = tl.sum(total, 1) / n
        apart = tl.where((columns < n)[None, :], total - mean[:, None], 0.0)
        tl.store(place, apart * tl.rsqrt(tl.sum(apart * apart, 1) / n + 1e-5)[:, None], exists)
    else:
        low = tl.where((columns < n)[None, :], total, float("-inf"))
        top = tl.max(low, 1)
        tl.store(out + m, tl.log(tl.sum(tl.exp(low - top[:, None]), 1)) + top, m < rows)


def expected(what, z):
    if what == "softmax":
        return torch.softmax(z, 1)
    if what == "norm":
        return (z - z.mean(1, keepdim=True)) / torch.sqrt(z.var(1, unbiased=False, keepdim=True) + 1e-5)
    return torch.logsumexp(z, 1)


SHAPES = [(128, 64, 128, (64, 64, 64)), (100, 120, 72, (64, 128, 32)), (1, 64, 8, (128, 64, 64)), (70, 8, 200, (16, 64, 64))]


@pytest.mark.parametrize("what", ["softmax", "norm", "logsumexp"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rows, n, k, block", SHAPES)
def test_rows(device, what, dtype, rows, n, k, block):
    g = torch.Generator().manual_seed(rows + n)
    a = torch.randn(rows, k, generator=g, device="cpu").to(dtype)
    b = (torch.randn(k, n, generator=g, device="cpu") / k**0.5).to(dtype)
    bias = torch.randn(n, generator=g, device="cpu")
    out = torch.full((rows, n) if what != "logsumexp" else (rows,), float("nan"), device=device)
    grid = (-(-rows // block[0]),)
    kernel[grid](a.to(device), b.to(device), bias.to(device), out, rows, n, k, *block, what)
    torch.testing.assert_close(out.double().cpu(), expected(what, a.double() @ b.double() + bias.double()), rtol=1e-4, atol=1e-4)
