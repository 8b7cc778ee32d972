"""A vector times a matrix, as a product of one row and as sums along columns, whichever way the matrix lies: the same bits;
nothing is read behind its last byte."""

import re

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

from ..pages import at_the_end_of_a_page

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@tileon.jit
def product(a, b, c, M, N, K, sk, sn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WRAP: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    at = n % N if WRAP else n
    total = tl.zeros((BM, BN), tl.float64 if a.dtype.element_ty == tl.float64 else tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(a + m[:, None] * K + (step * BK + k)[None, :], (m < M)[:, None] & (k < left)[None, :], other=0.0)
        exists = (k < left)[:, None] & ((n < N)[None, :] | WRAP)
        y = tl.load(b + (step * BK + k)[:, None] * sk + at[None, :] * sn, exists, other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), (m < M)[:, None] & (n < N)[None, :])


@tileon.jit
def sums(a, b, c, where, N, K, sk, sn, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total, top = tl.zeros((BN,), tl.float32), tl.zeros((BN,), tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + k, k < K, other=0.0)
        y = tl.load(b + k[:, None] * sk + n[None, :] * sn, (k < K)[:, None] & (n < N)[None, :], other=0.0)
        total += tl.sum(x[:, None].to(tl.float32) * y, 0)
        top += tl.argmax(y, 0).to(tl.int32)
    tl.store(c + n, total, n < N)
    tl.store(where + n, top, n < N)


def operands(K, N, dtype, device, seed):
    torch.manual_seed(seed)
    a, b = torch.randn(1, K, device="cpu").to(dtype), torch.randn(K, N, device="cpu").to(dtype)
    kept = []
    if device == "cpu":
        (a, first), (b, second) = at_the_end_of_a_page(a.flatten()), at_the_end_of_a_page(b.flatten())
        kept = [first, second]
    return a.view(1, K).to(device), b.view(K, N).to(device), kept


@pytest.mark.parametrize("dtype, wrap", [*zip(FLOATS, [False, True] * 2), (torch.float32, True)], ids=str)
@pytest.mark.parametrize("K, N", [(64, 64), (37, 300), (200, 1)])
def test_products(device, K, N, dtype, wrap):
    a, b, kept = operands(K, N, dtype, device, K + N)
    exact = a.double() @ b.double()
    found = {}
    for blocks in ((1, 64, 32), (16, 160, 64), (4, 24, 16)):
        if device != "cpu" and (min(blocks) < 16 or any(size & size - 1 for size in blocks)):
            continue
        c = torch.full((1, N), torch.nan, dtype=torch.float64 if dtype == torch.float64 else torch.float32, device=device)
        product[(tileon.cdiv(N, blocks[1]),)](a, b, c, 1, N, K, N, 1, *blocks, wrap)
        bound = (a.double().abs() @ b.double().abs()) * (K + 1) * torch.finfo(c.dtype).eps
        assert ((c - exact).abs() <= bound).all(), blocks
        found[blocks] = c
    if device == "cpu":
        first, *others = found.values()
        assert all(torch.equal(first, other) for other in others)
    del a, b
    assert all(len(memory) for memory in kept)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
@pytest.mark.parametrize("K, N", [(64, 64), (100, 75), (37, 300), (200, 1)])
def test_sums_of_columns(device, K, N, dtype):
    a, b, kept = operands(K, N, dtype, device, K + N)
    if dtype == torch.int32:
        a.copy_(torch.arange(K).remainder(7).view(1, K)), b.copy_(torch.arange(K * N).remainder(11).view(K, N))
    turned = b.t().contiguous().t()
    for blocks in ((64, 32), (16, 128)):
        results = []
        for matrix in (b, turned):
            c, where = torch.full((N,), torch.nan, device=device), torch.zeros(N, dtype=torch.int32, device=device)
            sums[(tileon.cdiv(N, blocks[0]),)](a, matrix, c, where, N, K, *matrix.stride(), *blocks)
            results.append((c, where))
        (c, where), (other, there) = results
        # GPUs add up in an order that follows from how a matrix lies.
        assert torch.equal(c, other) if device == "cpu" else torch.allclose(c, other, rtol=1e-4, atol=1e-3), blocks
        assert torch.equal(where, there), blocks
        assert torch.allclose(c.double(), (a.double() @ b.double())[0], rtol=1e-4, atol=1e-3)
    del a, b
    assert all(len(memory) for memory in kept)


def test_nothing_is_gathered(device):
    a, b, c = torch.randn(1, 64), torch.randn(64, 64).t(), torch.empty(64)
    exact = (a.double() @ b.double())[0].float()
    kernel = sums[(1,)](a, b, c, torch.empty(64, dtype=torch.int32), 64, 64, 1, 64, BN=64, BK=64)
    torch.testing.assert_close(c, exact, rtol=1e-4, atol=1e-4)
    in_place = product[(1,)](a, b.contiguous(), c, 1, 64, 64, 64, 1, 1, 64, 64, False)
    torch.testing.assert_close(c, exact, rtol=1e-4, atol=1e-4)
    if device == "cpu":  # what follows is said of a CPU's code
        assert re.search(r"shufflevector .*<i32 0, i32 (8|16), ", kernel.asm["llvm"]), "squares are transposed in registers"
        assert re.search(r"^row\d*:", in_place.asm["llvm"], re.MULTILINE), "rows are multiplied where they are read"
