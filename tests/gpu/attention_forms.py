"""Attention to some of the keys, as users write it: a window before each query, blocks that a table names."""

import tilelang
import tilelang.language as T
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


@tilelang.jit
def windowed_by_blocks(heads, n, d, window, block_M, block_N):
    """The first block of keys is a quotient of a negative number, for the first programs."""
    c = d**-0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((heads, n, d), "float16"),
        K: T.Tensor((heads, n, d), "float16"),
        V: T.Tensor((heads, n, d), "float16"),
        Out: T.Tensor((heads, n, d), "float16"),
    ):
        with T.Kernel(T.ceildiv(n, block_M), heads, threads=256) as (bx, by):
            q, k = T.alloc_shared((block_M, d), "float16"), T.alloc_shared((block_N, d), "float16")
            v = T.alloc_shared((block_N, d), "float16")
            scores, weights = T.alloc_fragment((block_M, block_N), "float32"), T.alloc_fragment((block_M, block_N), "float16")
            acc = T.alloc_fragment((block_M, d), "float32")
            top, before, scale = (T.alloc_fragment((block_M,), "float32") for _ in range(3))
            added, total = T.alloc_fragment((block_M,), "float32"), T.alloc_fragment((block_M,), "float32")
            T.copy(Q[by, bx * block_M, 0], q)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -1.0e30)
            begin = T.max(0, (bx * block_M - window + 1) // block_N)
            for i in T.Pipelined(begin, T.ceildiv(T.min((bx + 1) * block_M, n), block_N), num_stages=2):
                T.copy(K[by, i * block_N, 0], k)
                for r, s in T.Parallel(block_M, block_N):
                    at = bx * block_M + r - i * block_N - s
                    scores[r, s] = T.if_then_else(at >= 0 and at < window, 0, -1.0e6)
                T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for r in T.Parallel(block_M):
                    scale[r] = T.exp2(before[r] * c - top[r] * c)
                for r, s in T.Parallel(block_M, block_N):
                    scores[r, s] = T.exp2(scores[r, s] * c - top[r] * c)
                T.reduce_sum(scores, added, dim=1)
                for r in T.Parallel(block_M):
                    total[r] = total[r] * scale[r] + added[r]
                T.copy(scores, weights)
                for r, s in T.Parallel(block_M, d):
                    acc[r, s] *= scale[r]
                T.copy(V[by, i * block_N, 0], v)
                T.gemm(weights, v, acc, policy=T.GemmWarpPolicy.FullRow)
            for r, s in T.Parallel(block_M, d):
                acc[r, s] /= total[r]
            T.copy(acc, Out[by, bx * block_M, 0])

    return main
