"""First factors that registers keep for a whole loop, beside others that are made in it: attention whose queries are scaled in
front of its loop. ptxas 13.0 gave both the same registers, so that from the second turn on scores were those of weights."""

import re

import pytest
import torch
from language.bounds import attention as bounds_of_attention
from language.bounds import narrowed, product, within

from tilery import _native, tileon
from tilery.tileon import language as tl

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
SIZES = [(16, 64, 16), (32, 64, 32), (64, 64, 64), (64, 128, 64), (64, 64, 32), (128, 64, 128)]  # columns, rows, step
TYPES = [torch.float16, torch.bfloat16, torch.float32]


@tileon.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, d, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :]).to(tl.float32) * scale
    q = q.to(q_ptr.dtype.element_ty)
    acc = tl.zeros([BM, D], tl.float32)
    top, norm = tl.full([BM], float("-inf"), tl.float32), tl.zeros([BM], tl.float32)
    for start in range(0, N, BN):
        k = tl.load(k_ptr + (start + n)[:, None] * D + d[None, :])
        v = tl.load(v_ptr + (start + n)[:, None] * D + d[None, :])
        scores = tl.dot(q, k.T)
        now = tl.maximum(top, tl.max(scores, 1))
        weights, less = tl.exp2(scores - now[:, None]), tl.exp2(top - now)
        norm = norm * less + tl.sum(weights, 1)
        acc = tl.dot(weights.to(v.dtype), v, acc * less[:, None])
        top = now
    tl.store(o_ptr + m[:, None] * D + d[None, :], (acc / norm[:, None]).to(o_ptr.dtype.element_ty))


def arguments(dtype, columns, rows, step, device="cpu"):
    torch.manual_seed(0)
    q, k, v = (torch.randn(n, columns).to(dtype).to(device) for n in (rows, 4 * step, 4 * step))
    return q, k, v, torch.full_like(q, float("nan"))


@on_both
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("columns, rows, step", SIZES)
def test_queries_scaled_in_front_of_the_loop(dtype, columns, rows, step, device):
    q, k, v, o = arguments(dtype, columns, rows, step, device)
    attention[(1,)](q, k, v, o, 0.25, len(k), D=columns, BM=rows, BN=step, num_warps=4)
    scores = product((q.float() * 0.25).to(dtype), k.T, torch.float32)  # a fourth is exact
    within(o, narrowed(*bounds_of_attention(scores, v, step), dtype))


def assembly(dtype, columns, rows, step):
    q, k, v, o = arguments(dtype, columns, rows, step)
    module = attention.warmup(q, k, v, o, 0.25, len(k), D=columns, BM=rows, BN=step, num_warps=4, grid=(1,)).module
    return _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("columns, rows, step", SIZES)
def test_copies_find_registers(dtype, columns, rows, step, assemble):
    """Two blocks of a multiprocessor leave too few for them where what is copied is not counted (C7512)."""
    assert "0 bytes spill stores" in assemble(assembly(dtype, columns, rows, step), "sm_90a")


@pytest.mark.parametrize("dtype", TYPES[:2], ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("columns, rows, step", SIZES)
def test_the_assembler_is_shown_other_registers_in_each_turn(dtype, columns, rows, step):
    ptx = assembly(dtype, columns, rows, step)
    copies = set(re.findall(r"and\.b32 (%r\d+), %r\d+, all", ptx))
    factors = re.findall(r"wgmma\.mma_async\S+ \{[^}]*\}, \{(%r\d+), (%r\d+), (%r\d+), (%r\d+)\}", ptx)
    assert sum(set(each) <= copies for each in factors) >= columns // 16
