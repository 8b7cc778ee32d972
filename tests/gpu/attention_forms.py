"""Attention to some of the keys, as Tileon's users write it: a window before each query, blocks that a table names."""

import tileon
import tileon.language as tl


@tileon.jit
def windowed(
    q_ptr, k_ptr, v_ptr, out_ptr, sm_scale, stride_h, stride_n, N, WINDOW,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """Each query sees itself and the WINDOW - 1 keys before it."""
    first, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    q_ptr += head * stride_h
    k_ptr += head * stride_h
    v_ptr += head * stride_h
    out_ptr += head * stride_h
    offs_m, offs_d = first + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + offs_m[:, None] * stride_n + offs_d[None, :], mask=offs_m[:, None] < N, other=0.0)
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    begin = tl.maximum(first - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    end = tl.minimum(first + BLOCK_M, N)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[None, :] * stride_n + offs_d[:, None], mask=n[None, :] < N, other=0.0)
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        seen = (offs_m[:, None] >= n[None, :]) & (offs_m[:, None] - n[None, :] < WINDOW)
        scores = tl.where(seen, scores, -1.0e6)
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.math.exp2(scores - new_top[:, None])
        old = tl.math.exp2(top - new_top)
        total = total * old + tl.sum(weights, 1)
        v = tl.load(v_ptr + n[:, None] * stride_n + offs_d[None, :], mask=n[:, None] < N, other=0.0)
        acc = acc * old[:, None] + tl.dot(weights.to(v.dtype), v)
        top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + offs_m[:, None] * stride_n + offs_d[None, :], acc.to(out_ptr.dtype.element_ty), mask=offs_m[:, None] < N)


@tileon.jit
def named_blocks(
    q_ptr, k_ptr, v_ptr, out_ptr, rows, columns, sm_scale, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    """Each block of queries sees the blocks of keys that a table names (rows: where its part of `columns` begins)."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * N * D
    offs_m, offs_n, offs_d = block * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, D)
    q = tl.load(q_ptr + base + offs_m[:, None] * D + offs_d[None, :])
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    begin, end = tl.load(rows + block), tl.load(rows + block + 1)
    for i in range(begin, end):
        n = tl.load(columns + i) * BLOCK_N + offs_n
        k = tl.load(k_ptr + base + n[None, :] * D + offs_d[:, None])
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.math.exp2(scores - new_top[:, None])
        old = tl.math.exp2(top - new_top)
        total = total * old + tl.sum(weights, 1)
        v = tl.load(v_ptr + base + n[:, None] * D + offs_d[None, :])
        acc = acc * old[:, None] + tl.dot(weights.to(v.dtype), v)
        top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + base + offs_m[:, None] * D + offs_d[None, :], acc.to(out_ptr.dtype.element_ty))
