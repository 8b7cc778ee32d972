"""Linear attention by chunks, as libraries write it: results of a chunk from the state before it and from its own rows."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def chunk_outputs(
    q_ptr, k_ptr, v_ptr, h_ptr, gate_ptr, out_ptr, scale, N,
    BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr, K: tl.constexpr, V: tl.constexpr, GATED: tl.constexpr
):  # fmt: skip
    """From the state before the chunk, and from its own rows up to each."""
    column, chunk, head = tl.program_id(0) * BV, tl.program_id(1), tl.program_id(2)
    q_ptr += (head * N + chunk * BT) * K
    k_ptr += (head * N + chunk * BT) * K
    v_ptr += (head * N + chunk * BT) * V + column
    out_ptr += (head * N + chunk * BT) * V + column
    h_ptr += (head * (N // BT) + chunk).to(tl.int64) * K * V + column
    offs_t, offs_k, offs_v = tl.arange(0, BT), tl.arange(0, BK), tl.arange(0, BV)
    acc = tl.zeros([BT, BV], dtype=tl.float32)
    scores = tl.zeros([BT, BT], dtype=tl.float32)
    for at in range(0, K, BK):
        q = tl.load(q_ptr + offs_t[:, None] * K + at + offs_k[None, :])
        k = tl.load(k_ptr + offs_t[None, :] * K + at + offs_k[:, None])
        h = tl.load(h_ptr + (at + offs_k)[:, None] * V + offs_v[None, :])
        acc += tl.dot(q, h)
        scores += tl.dot(q, k)
    if GATED:
        gate = tl.load(gate_ptr + head * N + chunk * BT + offs_t)
        acc = acc * tl.exp(gate)[:, None]
        scores = scores * tl.exp(gate[:, None] - gate[None, :])
    scores = tl.where(offs_t[:, None] >= offs_t[None, :], scores, 0.0)
    v = tl.load(v_ptr + offs_t[:, None] * V + offs_v[None, :])
    acc = (acc + tl.dot(scores.to(v.dtype), v)) * scale
    tl.store(out_ptr + offs_t[:, None] * V + offs_v[None, :], acc.to(out_ptr.dtype.element_ty))


@tileon.jit
def chunk_scores(
    q, k, out, batch, N, q_batch, q_chunk, q_row, k_batch, k_chunk, k_row, out_batch, out_chunk, out_row,
    BT: tl.constexpr, BK: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    """Batches and chunks are one program id, taken apart by a quotient and a difference."""
    both = tl.program_id(0)
    chunk = both // batch
    entry = both - chunk * batch
    rows = tl.arange(0, BT)
    q += entry * q_batch + chunk * q_chunk
    k += entry * k_batch + chunk * k_chunk
    acc = tl.zeros([BT, BT], dtype=tl.float32)
    for at in range(0, K, BK):
        offs = at + tl.arange(0, BK)
        b_q = tl.load(q + rows[:, None] * q_row + offs[None, :], mask=rows[:, None] < N, other=0.0)
        b_k = tl.load(k + rows[None, :] * k_row + offs[:, None], mask=rows[None, :] < N, other=0.0)
        acc += tl.dot(b_q, b_k)
    place = out + entry * out_batch + chunk * out_chunk + rows[:, None] * out_row + rows[None, :]
    tl.store(place, acc, mask=(rows[:, None] < N) & (rows[None, :] < N))


@tileon.jit
def chunk_gradients(
    q, k, v, h, do, dh, dv, dq, dk, dw, N, scale, BT: tl.constexpr, K: tl.constexpr, V: tl.constexpr, NEGATE: tl.constexpr
):  # fmt: skip
    """Of the delta rule's chunks: six products in one program, the fourth of which is only stored."""
    t, head = tl.program_id(0), tl.program_id(1)
    rows, wide, cols = t * BT + tl.arange(0, BT), tl.arange(0, K), tl.arange(0, V)
    exists = rows < N
    at_k, at_v = (head * N + rows)[:, None] * K + wide[None, :], (head * N + rows)[:, None] * V + cols[None, :]
    at_h = (head * tl.cdiv(N, BT) + t) * K * V + wide[None, :] * V + cols[:, None]
    b_v = tl.load(v + at_v, mask=exists[:, None], other=0.0)
    b_do = tl.load(do + at_v, mask=exists[:, None], other=0.0)
    b_h = tl.load(h + at_h)
    scores = tl.dot(b_do, tl.trans(b_v))
    b_dq = tl.dot(b_do, b_h)
    b_dk = tl.dot(b_v, tl.load(dh + at_h))
    b_dw = tl.dot(tl.load(dv + at_v, mask=exists[:, None], other=0.0), b_h)
    if NEGATE:
        b_dw = -b_dw
    tl.store(dw + at_k, b_dw.to(dw.dtype.element_ty), mask=exists[:, None])
    b_q = tl.load(q + at_k, mask=exists[:, None], other=0.0)
    b_k = tl.load(k + at_k, mask=exists[:, None], other=0.0)
    scores = tl.where(rows[:, None] >= rows[None, :], scores, 0).to(b_k.dtype)
    b_dq = tl.dot(scores, b_k, b_dq) * scale
    b_dk += tl.dot(tl.trans(scores), b_q) * scale
    tl.store(dq + at_k, b_dq.to(dq.dtype.element_ty), mask=exists[:, None])
    tl.store(dk + at_k, b_dk.to(dk.dtype.element_ty), mask=exists[:, None])


@tilelang.jit
def chunk_scan(batch, n, heads, state, d, chunk, block_M, block_N, block_K):
    """Of a state space model: the chunk's own rows, scaled by what is left of each, and the state before it."""
    c = 1.44269504

    @T.prim_func
    def main(
        CB: T.Tensor((batch, n // chunk, chunk, chunk), "float16"),
        X: T.Tensor((batch, n, heads, d), "float16"),
        A: T.Tensor((batch, heads, n // chunk, chunk), "float32"),
        C: T.Tensor((batch, n, state), "float16"),
        States: T.Tensor((batch, n // chunk, heads, d, state), "float16"),
        Out: T.Tensor((batch, n, heads, d), "float16"),
    ):
        tiles = T.ceildiv(chunk, block_M) * T.ceildiv(d, block_N)
        with T.Kernel(heads, tiles, batch * (n // chunk), threads=128) as (bz, bx, by):
            acc = T.alloc_fragment((block_M, block_N), "float32")
            cb, x = T.alloc_shared((block_M, block_K), "float16"), T.alloc_shared((block_K, block_N), "float16")
            scaled, part = T.alloc_fragment((block_M, block_K), "float16"), T.alloc_fragment((block_M, block_K), "float32")
            a_m, a_k = T.alloc_fragment((block_M,), "float32"), T.alloc_fragment((block_K,), "float32")
            c_tile, before = T.alloc_shared((block_M, state), "float16"), T.alloc_shared((block_N, state), "float16")
            b, which = by // (n // chunk), by % (n // chunk)
            m, col = bx // T.ceildiv(d, block_N) * block_M, bx % T.ceildiv(d, block_N) * block_N
            row = which * chunk + m
            T.copy(A[b, bz, which, m : m + block_M], a_m)
            T.copy(C[b, row : row + block_M, :], c_tile)
            T.copy(States[b, which, bz, col : col + block_N, :], before)
            T.clear(acc)
            T.gemm(c_tile, before, acc, transpose_B=True)
            for i, j in T.Parallel(block_M, block_N):
                acc[i, j] *= T.exp2(a_m[i] * c)
            for k in T.Pipelined(T.ceildiv(m + block_M, block_K), num_stages=2):
                T.copy(CB[b, which, m : m + block_M, k * block_K : (k + 1) * block_K], cb)
                T.copy(cb, part)
                T.copy(A[b, bz, which, k * block_K : (k + 1) * block_K], a_k)
                for i, j in T.Parallel(block_M, block_K):
                    part[i, j] *= T.exp2(a_m[i] * c - a_k[j] * c)
                for i, j in T.Parallel(block_M, block_K):
                    part[i, j] = T.if_then_else(m + i >= k * block_K + j, part[i, j], 0)
                T.copy(part, scaled)
                T.copy(X[b, which * chunk + k * block_K : which * chunk + (k + 1) * block_K, bz, col : col + block_N], x)
                T.gemm(scaled, x, acc)
            T.copy(acc, Out[b, row : row + block_M, bz, col : col + block_N])

    return main
