"""Attention forward in other spellings than the example's."""

import tileon
import tileon.language as tl


@tileon.jit
def masked(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, group, stride_h, stride_kh, stride_n, N,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):
    """Any number of rows, by masks; `group` heads of queries have one head of keys."""
    first = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    k_ptr += head // group * stride_kh
    v_ptr += head // group * stride_kh
    offs_m, offs_d = first + tl.arange(0, BLOCK_M), tl.arange(0, D)
    place = head * stride_h + offs_m[:, None] * stride_n + offs_d[None, :]
    q = tl.load(q_ptr + place, mask=offs_m[:, None] < N, other=0.0)
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = tl.minimum(first + BLOCK_M, N) if CAUSAL else N
    for start in range(0, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[None, :] * stride_n + offs_d[:, None], mask=n[None, :] < N, other=0.0)
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        exists = n[None, :] < N
        if CAUSAL:
            exists = exists & (offs_m[:, None] >= n[None, :])
        scores = tl.where(exists, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.math.exp2(scores - new_top[:, None])
        old = tl.math.exp2(top - new_top)
        total = total * old + tl.sum(weights, 1)
        acc = acc * old[:, None]
        v = tl.load(v_ptr + n[:, None] * stride_n + offs_d[None, :], mask=n[:, None] < N, other=0.0)
        acc = tl.dot(weights.to(v.dtype), v, acc)
        top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + place, acc.to(out_ptr.dtype.element_ty), mask=offs_m[:, None] < N)
