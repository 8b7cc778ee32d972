"""Attention, split K, norms, dropout, locks, grouped matmuls, tuning: what tutorials do."""

import pytest
import torch
from language import bounds
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
    limits = {torch.float32: 5e-2 if q.is_cuda else 1e-3, torch.float16: 6e-3, torch.bfloat16: 4e-2}
    assert bound.max() < limits[dtype]  # the bound says something


def fresh(kernel):
    """The kernel, compiled for this test alone."""
    return triton.jit(kernel.fn)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("split", [1, 4])
@pytest.mark.parametrize("m, n, k", [(100, 70, 333), (256, 64, 128), (1, 5, 7), (3, 2, 0)])
def test_split_k_matmul(m, n, k, split):
    a, b = torch.randn(m, k, dtype=torch.float16), torch.randn(k, n, dtype=torch.float16)
    around = torch.full((m + 1, n + 3), float("nan"))
    c = around[:m, :n]
    if split > 1:
        c.zero_()
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 32), split)
    fresh(kernels.split_k_matmul)[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=64, BLOCK_N=32, BLOCK_K=32, SPLIT=split, GROUP=4
    )
    # Products of 16-bit floats are exact in float32; k of them and the parts are added, each sum rounded by 2^-24.
    bound = (k + split) * 2.0**-24 * 1.01 * (a.double().abs() @ b.double().abs())
    assert ((c.double() - a.double() @ b.double()).abs() <= bound).all()
    assert around[m:].isnan().all() and around[:, n:].isnan().all()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("shape, groups", [((2, 6, 5, 7), 3), ((1, 32, 16, 16), 8), ((3, 4, 1, 2), 1)])
def test_group_norm(shape, groups):
    x, y = torch.randn(shape, dtype=torch.bfloat16), torch.full(shape, float("nan"), dtype=torch.bfloat16)
    w, b = torch.randn(shape[1]), torch.randn(shape[1])
    fresh(kernels.group_norm)[(shape[0] * groups,)](x, w, b, y, shape[1], shape[2] * shape[3], groups, 1e-5, BLOCK=128)
    normal = torch.nn.functional.group_norm(x.double(), groups, eps=1e-5)
    wide, shift = w.double().reshape(1, -1, 1, 1), b.double().reshape(1, -1, 1, 1)
    # The result is rounded to bfloat16. Mean and variance add at most 8 + 7 values one after the other in float32: 64 units
    # hold them, the difference of squares, and the five operations of an element.
    bound = 2.0**-8 * (normal * wide + shift).abs() + 64 * 2.0**-24 * ((normal.abs() + 1) * wide.abs() + shift.abs())
    assert ((y.double() - (normal * wide + shift)).abs() <= 1.01 * bound).all()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("batch, s, heads, d", [(2, 9, 4, 32), (1, 1, 1, 2), (3, 5, 8, 64)])
def test_rotary_embedding(batch, s, heads, d):
    q, angle = torch.randn(batch * s, heads, d), 7 * torch.rand(s, d // 2)
    cos, sin, out = angle.cos(), angle.sin(), torch.full((batch * s, heads, d), float("nan"))
    fresh(kernels.rotary_embedding)[(batch * s,)](q, cos, sin, out, s, H=heads, D=d)
    x, y = q.double().chunk(2, -1)
    c, s = (t.double().repeat(batch, 1)[:, None] for t in (cos, sin))
    size = torch.cat([(x * c).abs() + (y * s).abs(), (y * c).abs() + (x * s).abs()], -1)
    # Two products and their sum, each rounded by 2^-24.
    assert ((out.double() - torch.cat([x * c - y * s, y * c + x * s], -1)).abs() <= 2 * 2.0**-24 * 1.01 * size).all()


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
        bounds.within(z, bounds.product(x, y, torch.float32))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("m, d, h, n", [(50, 40, 100, 70), (128, 64, 96, 32), (1, 3, 5, 2)])
def test_fused_mlp(m, d, h, n, dtype):
    x, w1, w2 = (torch.randn(shape).to(dtype) for shape in ((m, d), (d, h), (h, n)))
    b1, out = torch.randn(h), torch.full((m + 1, n), float("nan"))
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    fresh(kernels.fused_mlp)[grid](x, w1, b1, w2, out, m, d, h, n, BLOCK_M=32, BLOCK_D=64, BLOCK_H=32, BLOCK_N=32)
    bounds.within(out[:m], bounds.fused_mlp(x, w1, b1, w2))
    assert out[m:].isnan().all()


@pytest.mark.parametrize("n", [256, 100])
def test_autotune_and_heuristics(n):
    x, y, count = torch.randn(n), torch.full((n,), float("nan")), torch.zeros(1, dtype=torch.int32)
    kernels.tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, count, n)
    block = kernels.tuned.best_config.kwargs["BLOCK"]
    assert torch.equal(y, 2 * x) and block in (32, 128) and count.item() == triton.cdiv(n, block)
