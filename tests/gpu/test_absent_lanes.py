"""What lanes outside of a tensor are, as programs say it: a tile of one zero that is broadcast is zeros, and its factor a box."""

import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


@tileon.jit
def product(A, B, C, M, N, K, ABSENT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    nothing = tl.full([1, 1], ABSENT, A.dtype.element_ty)
    a, b = A + (m % M)[:, None] * K + k[None, :], B + (n % N)[:, None] * K + k[None, :]
    total = tl.zeros((BM, BN), tl.int32 if A.dtype.element_ty == tl.int8 else tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = tl.load(a, mask=k[None, :] < K - step * BK, other=nothing)
        right = tl.load(b, mask=k[None, :] < K - step * BK, other=nothing)
        total += tl.dot(left, tl.trans(right))
        a += BK
        b += BK
    tl.store(C + m[:, None] * N + n[None, :], total.to(tl.float32), mask=(m[:, None] < M) & (n[None, :] < N))


def launched(device, dtype, shape, absent):
    """(module, result, what it should be): integers whose sums no type rounds."""
    m, n, k = shape
    a, b = (torch.randint(-5, 6, size, device=device).to(dtype) for size in ((m, k), (n, k)))
    c = torch.full((m, n), float("nan"), device=device)
    module = product[(-(-m // 128), -(-n // 64))](a, b, c, m, n, k, absent, BM=128, BN=64, BK=128).module
    return module, c, a.double() @ b.double().T + (-k % 128) * absent**2


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.bfloat16], ids=str)
def test_zeros_are_boxes(dtype, goes_through_blocks):
    zeros = launched("cpu", dtype, (64, 64, 64), 0)[0]
    goes_through_blocks(zeros)
    assert "a: box of A" in _native.compile(zeros, disjoint=True, texts=True, target="sm_90a").plan
    ones = launched("cpu", dtype, (64, 64, 64), 1)[0]
    assert "a: box of A" not in _native.compile(ones, disjoint=True, texts=True, target="sm_90a").plan


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("absent", [0, 1])
@pytest.mark.parametrize("shape", [(1, 16, 16), (130, 72, 144), (256, 64, 256), (3, 200, 0)], ids=str)
@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.bfloat16], ids=str)
def test_is_right(dtype, shape, absent, device):
    _, c, exact = launched(device, dtype, shape, absent)
    assert torch.equal(c.double(), exact)
