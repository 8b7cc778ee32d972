"""Attention, dropout, locks, grouped matmuls, tuning: what tutorials do."""

import pytest
import torch
from language.attention import attention_with_bound
from language.tileon import more_kernels as kernels

from tilery import triton


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "heads, n, d, dtype", [(2, 64, 16, torch.float32), (1, 50, 32, torch.float16), (3, 33, 16, torch.bfloat16)]
)
def test_attention(causal, heads, n, d, dtype):
    q, k, v = (torch.randn(heads, n, d).to(dtype) for _ in range(3))
    out = torch.full_like(q, float("nan"))
    kernels.attention[(triton.cdiv(n, 32), heads)](
        q, k, v, out, *q.stride(), n, d**-0.5, CAUSAL=causal, BLOCK_M=32, BLOCK_N=16, D=d, num_warps=4
    )
    expected, bound = attention_with_bound(q, k, v, block=16, scale=d**-0.5, causal=causal)
    assert ((out.double() - expected).abs() <= bound).all()
    assert bound.max() < {torch.float32: 1e-3, torch.float16: 6e-3, torch.bfloat16: 4e-2}[dtype]  # the bound says something


def test_dropout_keeps_what_upstream_keeps():
    x = torch.ones(1000)
    a, b = torch.empty(1000), torch.empty(1000)
    kernels.dropout[(4,)](x, a, 1000, 0.5, 123, BLOCK_SIZE=256)
    kernels.dropout[(8,)](x, b, 1000, 0.5, 123, BLOCK_SIZE=128)
    assert torch.equal(a, b) and set(a.tolist()) == {0.0, 2.0} and 400 < (a > 0).sum() < 600


def test_locks_make_progress():
    rows, n, groups = 64, 50, 3
    x, total = torch.randint(-9, 9, (rows, n)).float(), torch.full((groups, n), float("nan"))
    lock, count = torch.zeros(groups, dtype=torch.int32), torch.zeros(groups, dtype=torch.int32)
    kernels.locked_sum[(rows,)](x, total, lock, count, n, GROUP=groups, BLOCK=64)
    assert torch.equal(total, torch.stack([x[g::groups].sum(0) for g in range(groups)])) and lock.sum() == 0


def test_pointers_kept_in_tensors():
    sizes = [(20, 33, 17), (16, 16, 16), (40, 5, 64)]
    a = [torch.randn(m, k) for m, n, k in sizes]
    b = [torch.randn(k, n) for m, n, k in sizes]
    c = [torch.full((m, n), float("nan")) for m, n, k in sizes]
    pointers = [torch.tensor([t.data_ptr() for t in ts], dtype=torch.int64) for ts in (a, b, c)]
    kernels.grouped_gemm[(4,)](*pointers, torch.tensor(sizes, dtype=torch.int32), GROUPS=3, PROGRAMS=4, BLOCK=16)
    for x, y, z in zip(a, b, c):
        torch.testing.assert_close(z, (x.double() @ y.double()).float(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [256, 100])
def test_autotune_and_heuristics(n):
    x, y, count = torch.randn(n), torch.full((n,), float("nan")), torch.zeros(1, dtype=torch.int32)
    kernels.tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, count, n)
    block = kernels.tuned.best_config.kwargs["BLOCK"]
    assert torch.equal(y, 2 * x) and block in (32, 128) and count.item() == triton.cdiv(n, block)
