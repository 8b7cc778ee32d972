"""Attention forward in other spellings than the example's."""

import tileon
import tileon.language as tl


@tileon.jit
def masked(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, group, stride_h, stride_kh, stride_n, N,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, NATURAL: tl.constexpr = False
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
        scores = tl.dot(q, k) * (sm_scale * (1.0 if NATURAL else 1.44269504))
        exists = n[None, :] < N
        if CAUSAL:
            exists = exists & (offs_m[:, None] >= n[None, :])
        scores = tl.where(exists, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        if NATURAL:
            weights, old = tl.exp(scores - new_top[:, None]), tl.exp(top - new_top)
        else:
            weights, old = tl.math.exp2(scores - new_top[:, None]), tl.math.exp2(top - new_top)
        total = total * old + tl.sum(weights, 1)
        acc = acc * old[:, None]
        v = tl.load(v_ptr + n[:, None] * stride_n + offs_d[None, :], mask=n[:, None] < N, other=0.0)
        acc = tl.dot(weights.to(v.dtype), v, acc)
        top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + place, acc.to(out_ptr.dtype.element_ty), mask=offs_m[:, None] < N)


@tileon.jit
def block_pointers(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, stride_h, stride_n, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):
    """Block pointers that advance; keys transposed by their strides."""
    base = tl.program_id(1).to(tl.int64) * stride_h
    first = tl.program_id(0) * BLOCK_M
    q_block = tl.make_block_ptr(q_ptr + base, (N, D), (stride_n, 1), (first, 0), (BLOCK_M, D), (1, 0))
    k_block = tl.make_block_ptr(k_ptr + base, (D, N), (1, stride_n), (0, 0), (D, BLOCK_N), (0, 1))
    v_block = tl.make_block_ptr(v_ptr + base, (N, D), (stride_n, 1), (0, 0), (BLOCK_N, D), (1, 0))
    out_block = tl.make_block_ptr(out_ptr + base, (N, D), (stride_n, 1), (first, 0), (BLOCK_M, D), (1, 0))
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504
    q = tl.load(q_block)
    for _ in range(0, N, BLOCK_N):
        scores = tl.dot(q, tl.load(k_block))
        new_top = tl.maximum(top, tl.max(scores, 1) * scale)
        weights = tl.math.exp2(scores * scale - new_top[:, None])
        old = tl.math.exp2(top - new_top)
        total = total * old + tl.sum(weights, 1)
        acc = acc * old[:, None]
        acc += tl.dot(weights.to(v_ptr.dtype.element_ty), tl.load(v_block))
        top = new_top
        k_block = tl.advance(k_block, (0, BLOCK_N))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    tl.store(out_block, (acc / total[:, None]).to(out_ptr.dtype.element_ty))


@tileon.jit
def descriptors(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, heads, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):
    """Device descriptors of all heads' rows."""
    rows = heads * N
    q_tensor = tl.make_tensor_descriptor(q_ptr, [rows, D], [D, 1], [BLOCK_M, D])
    k_tensor = tl.make_tensor_descriptor(k_ptr, [rows, D], [D, 1], [BLOCK_N, D])
    v_tensor = tl.make_tensor_descriptor(v_ptr, [rows, D], [D, 1], [BLOCK_N, D])
    out_tensor = tl.make_tensor_descriptor(out_ptr, [rows, D], [D, 1], [BLOCK_M, D])
    base = tl.program_id(1) * N
    first = base + tl.program_id(0) * BLOCK_M
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504
    q = q_tensor.load([first, 0])
    at = base
    for _ in tl.range(0, N, BLOCK_N):
        scores = tl.dot(q, k_tensor.load([at, 0]).T)
        new_top = tl.maximum(top, tl.max(scores, 1) * scale)
        weights = tl.math.exp2(scores * scale - new_top[:, None])
        old = tl.math.exp2(top - new_top)
        total = total * old + tl.sum(weights, 1)
        acc = acc * old[:, None]
        acc = tl.dot(weights.to(v_ptr.dtype.element_ty), v_tensor.load([at, 0]), acc)
        top = new_top
        at += BLOCK_N
    out_tensor.store([first, 0], (acc / total[:, None]).to(out_ptr.dtype.element_ty))
