"""Loops whose first sums a number of the launch chooses: an earlier launch's, or none. On Hopper they take the block path."""

import pytest
import torch
from language.bounds import attention as bounds_of_attention
from language.bounds import narrowed, product, within

from tilery import tileon
from tilery.tileon import language as tl

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


@tileon.jit
def attention(Q, K, V, SUMS, M, L, OUT, n, keys, resume, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    inside = rows < n
    q = tl.load(Q + rows[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
    if resume:
        acc = tl.load(SUMS + rows[:, None] * D + d[None, :], mask=inside[:, None]).to(tl.float32)
        m = tl.load(M + rows, mask=inside, other=7.0).to(tl.float32)
        w = tl.load(L + rows, mask=inside, other=3.0)
    else:
        m = tl.full((BM,), -float("inf"), tl.float32)
        w = tl.full((BM,), 0.0, tl.float32)
        acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, keys, BN):
        at = start + tl.arange(0, BN)
        k = tl.load(K + at[None, :] * D + d[:, None], mask=at[None, :] < keys, other=0.0)
        s = tl.where(at[None, :] < keys, tl.dot(q, k), -float("inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        old = tl.exp2(m - new)
        w = w * old + tl.sum(p, 1)
        v = tl.load(V + at[:, None] * D + d[None, :], mask=at[:, None] < keys, other=0.0)
        acc = acc * old[:, None] + tl.dot(p.to(v.dtype), v)
        m = new
    tl.store(OUT + rows[:, None] * D + d[None, :], acc / w[:, None], mask=inside[:, None])


def launched(device, dtype, n, keys, resume):
    """(module, result, what it should be with a bound of the error)."""
    d = 64
    q, k, v = (torch.randn(rows, d, device=device).to(dtype) / 4 for rows in (n, keys, keys))
    shape = {"device": device, "dtype": torch.float32}
    o, m, w = torch.randn(n, d, **shape).half(), torch.randn(n, **shape).half(), torch.rand(n, **shape) + 1
    if not resume:
        o, m, w = (torch.full_like(x, float("nan")) for x in (o, m, w))
    out = torch.full((n, d), float("nan"), **shape)
    module = attention[(-(-n // 128),)](q, k, v, o, m, w, out, n, keys, resume, BM=128, BN=64, D=d).module
    scores = product(q, k.T, torch.float32)
    return module, out, narrowed(*bounds_of_attention(scores, v, 64, (o, m, w) if resume else None), torch.float32)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_takes_the_path(dtype, goes_through_blocks):
    goes_through_blocks(launched("cpu", dtype, 128, 64, 5)[0])


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("resume", [0, 2, 5])
@pytest.mark.parametrize("n, keys", [(1, 1), (130, 200), (256, 64), (200, 321)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_is_right(dtype, n, keys, resume, device):
    _, out, wanted = launched(device, dtype, n, keys, resume)
    within(out, wanted)
