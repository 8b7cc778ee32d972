"""Linear attention's states, as libraries write them: a tile that a loop over chunks carries, stores and multiplies."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def states(
    k, v, g, h, first_ptr, last_ptr, N, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr,
    BK: tl.constexpr, BV: tl.constexpr, GATED: tl.constexpr
):  # fmt: skip
    """The state before each BS rows, and behind all."""
    i_k, i_v, head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    place = head * K * V
    p_first = tl.make_block_ptr(first_ptr + place, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
    state = tl.load(p_first, boundary_check=(0, 1)).to(tl.float32)
    for t in range(tl.cdiv(N, BT)):
        p_k = tl.make_block_ptr(k + head * K, (K, N), (1, H * K), (i_k * BK, t * BT), (BK, BT), (0, 1))
        p_v = tl.make_block_ptr(v + head * V, (N, V), (H * V, 1), (t * BT, i_v * BV), (BT, BV), (1, 0))
        at = (t // (BS // BT) * H + head).to(tl.int64) * K * V
        p_h = tl.make_block_ptr(h + at, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        if t % (BS // BT) == 0:
            tl.store(p_h, state.to(p_h.dtype.element_ty), boundary_check=(0, 1))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        if GATED:
            rows = t * BT + tl.arange(0, BT)
            last = tl.load(g + (min((t + 1) * BT, N) - 1) * H + head)
            gate = tl.load(g + rows * H + head, mask=rows < N, other=0.0)
            state *= tl.exp(last)
            b_v = (b_v * tl.exp(last - gate)[:, None]).to(b_v.dtype)
        state += tl.dot(b_k, b_v)
    p_last = tl.make_block_ptr(last_ptr + place, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
    tl.store(p_last, state, boundary_check=(0, 1))


@tileon.jit
def weighted(
    v, beta, a, u, N, H: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr
):  # fmt: skip
    """The delta rule's products in a chunk: weighted rows are the second factor, results are stored in the loop."""
    t, head = tl.program_id(0), tl.program_id(1)
    p_beta = tl.make_block_ptr(beta + head, (N,), (H,), (t * BT,), (BT,), (0,))
    b_beta = tl.load(p_beta, boundary_check=(0,))
    p_a = tl.make_block_ptr(a + head * BT, (N, BT), (H * BT, 1), (t * BT, 0), (BT, BT), (1, 0))
    b_a = tl.load(p_a, boundary_check=(0, 1))
    for i in range(tl.cdiv(V, BV)):
        p_v = tl.make_block_ptr(v + head * V, (N, V), (H * V, 1), (t * BT, i * BV), (BT, BV), (1, 0))
        p_u = tl.make_block_ptr(u + head * V, (N, V), (H * V, 1), (t * BT, i * BV), (BT, BV), (1, 0))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_v = (b_v * b_beta[:, None]).to(b_v.dtype)
        tl.store(p_u, tl.dot(b_a, b_v).to(p_u.dtype.element_ty), boundary_check=(0, 1))


@tileon.jit
def gradients(
    q, do, g, dh, N, scale,
    H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr
):  # fmt: skip
    """Of states, from the last chunk to the first."""
    i_k, i_v, head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    state = tl.zeros([BK, BV], dtype=tl.float32)
    for t in range(tl.cdiv(N, BT) - 1, -1, -1):
        p_dh = tl.make_block_ptr(dh + (t * H + head) * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        tl.store(p_dh, state.to(p_dh.dtype.element_ty), boundary_check=(0, 1))
        p_q = tl.make_block_ptr(q + head * K, (K, N), (1, H * K), (i_k * BK, t * BT), (BK, BT), (0, 1))
        p_do = tl.make_block_ptr(do + head * V, (N, V), (H * V, 1), (t * BT, i_v * BV), (BT, BV), (1, 0))
        rows = t * BT + tl.arange(0, BT)
        gate = tl.load(g + rows * H + head, mask=rows < N, other=0.0)
        b_q = tl.load(p_q, boundary_check=(0, 1))
        b_q = (b_q * tl.exp(gate)[None, :] * scale).to(b_q.dtype)
        state *= tl.exp(tl.load(g + (min((t + 1) * BT, N) - 1) * H + head))
        state += tl.dot(b_q, tl.load(p_do, boundary_check=(0, 1)))


@tileon.jit
def delta_gradients(
    q, k, w, do, dv, new, dh, N, scale, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr
):  # fmt: skip
    """Of the delta rule's states, from the last chunk to the first, by pointers: masks say where rows end alone."""
    i_v, head = tl.program_id(0), tl.program_id(1)
    cols, wide = i_v * BV + tl.arange(0, BV), tl.arange(0, K)
    state = tl.zeros([K, BV], dtype=tl.float32)
    for t in range(tl.cdiv(N, BT) - 1, -1, -1):
        rows = t * BT + tl.arange(0, BT)
        exists = rows < N
        tl.store(dh + (t * H + head) * K * V + wide[:, None] * V + cols[None, :], state.to(dh.dtype.element_ty))
        at_k, at_v = (rows * H * K + head * K)[:, None] + wide[None, :], (rows * H * V + head * V)[:, None] + cols[None, :]
        b_do = tl.load(do + at_v, mask=exists[:, None], other=0.0)
        b_k = tl.load(k + at_k, mask=exists[:, None], other=0.0)
        b_dv = tl.dot(b_k, state.to(b_k.dtype)) + tl.load(dv + at_v, mask=exists[:, None], other=0.0)
        b_dv = b_dv.to(b_k.dtype)
        tl.store(new + at_v, b_dv, mask=exists[:, None])
        b_q = tl.load(q + tl.trans(at_k), mask=exists[None, :], other=0.0)
        b_w = tl.load(w + tl.trans(at_k), mask=exists[None, :], other=0.0)
        state += tl.dot(b_q, b_do) * scale - tl.dot(b_w, b_dv)


@tilelang.jit
def fused(heads, n, wide, chunk):
    """Results and state in one loop; the state is a second factor, results are added to memory."""

    @T.prim_func
    def main(
        Q: T.Tensor((n, heads, wide), "float16"),
        K: T.Tensor((n, heads, wide), "float16"),
        V: T.Tensor((n, heads, wide), "float16"),
        Out: T.Tensor((n, heads, wide), "float32"),
        State: T.Tensor((heads, wide, wide), "float32"),
    ):
        with T.Kernel(heads, threads=128) as head:
            q, k, v = (T.alloc_shared((chunk, wide), "float16") for _ in range(3))
            state, shown = T.alloc_fragment((wide, wide), "float32"), T.alloc_shared((wide, wide), "float16")
            scores, weights = T.alloc_fragment((chunk, chunk), "float32"), T.alloc_shared((chunk, chunk), "float16")
            out, added = T.alloc_fragment((chunk, wide), "float32"), T.alloc_shared((chunk, wide), "float32")
            T.clear(state)
            for i in T.Pipelined(n // chunk):
                for r, c in T.Parallel(chunk, wide):
                    q[r, c] = Q[i * chunk + r, head, c] * 0.125
                T.copy(K[i * chunk : (i + 1) * chunk, head, :], k)
                T.copy(V[i * chunk : (i + 1) * chunk, head, :], v)
                T.gemm(q, k, scores, clear_accum=True, transpose_B=True)
                for r, c in T.Parallel(chunk, chunk):
                    weights[r, c] = T.if_then_else(r >= c, scores[r, c], 0)
                T.gemm(weights, v, out, clear_accum=True)
                T.copy(state, shown)
                T.gemm(k, v, state, transpose_A=True)
                T.gemm(q, shown, out)
                T.copy(out, added)
                T.atomic_add(Out[i * chunk : (i + 1) * chunk, head, :], added)
            T.copy(state, State[head, :, :])

    return main


@tilelang.jit
def gated_states(n, heads, wide, chunk):
    """The state before each chunk; gates lie heads apart."""

    @T.prim_func
    def main(
        K: T.Tensor((n, heads, wide), "float16"),
        V: T.Tensor((n, heads, wide), "float16"),
        G: T.Tensor((n, heads), "float32"),
        Before: T.Tensor((n // chunk, heads, wide, wide), "float16"),
    ):
        with T.Kernel(wide // 64, wide // 64, heads, threads=128) as (i_k, i_v, head):
            k, v = T.alloc_shared((chunk, 64), "float16"), T.alloc_shared((chunk, 64), "float16")
            scaled, state = T.alloc_shared((chunk, 64), "float16"), T.alloc_fragment((64, 64), "float32")
            gate = T.alloc_fragment((chunk,), "float32")
            T.clear(state)
            for t in T.Pipelined(n // chunk, num_stages=2):
                T.copy(state, Before[t, head, i_k * 64 : (i_k + 1) * 64, i_v * 64 : (i_v + 1) * 64])
                T.copy(K[t * chunk : (t + 1) * chunk, head, i_k * 64 : (i_k + 1) * 64], k)
                T.copy(V[t * chunk : (t + 1) * chunk, head, i_v * 64 : (i_v + 1) * 64], v)
                for r in T.Parallel(chunk):
                    gate[r] = G[t * chunk + r, head]
                for r, c in T.Parallel(chunk, 64):
                    scaled[r, c] = v[r, c] * T.exp(G[(t + 1) * chunk - 1, head] - gate[r])
                for r, c in T.Parallel(64, 64):
                    state[r, c] *= T.exp(G[(t + 1) * chunk - 1, head])
                T.gemm(k, scaled, state, transpose_A=True)

    return main


@tilelang.jit
def chunk_states(n, heads, d, state, chunk, block_K):
    """Of a state space model: each chunk's own, of rows scaled by what is left of them and turned."""
    c = 1.44269504

    @T.prim_func
    def main(
        B: T.Tensor((n, state), "float16"),
        X: T.Tensor((n, heads, d), "float16"),
        A: T.Tensor((heads, n // chunk, chunk), "float32"),
        Out: T.Tensor((n // chunk, heads, d, state), "float16"),
    ):
        with T.Kernel(heads, n // chunk, threads=128) as (head, which):
            x, b = T.alloc_shared((block_K, d), "float16"), T.alloc_shared((block_K, state), "float16")
            rows, turned = T.alloc_fragment((block_K, d), "float16"), T.alloc_fragment((d, block_K), "float16")
            acc, a = T.alloc_fragment((d, state), "float32"), T.alloc_fragment((block_K,), "float32")
            scale, last = T.alloc_fragment((block_K,), "float32"), T.alloc_fragment((1,), "float32")
            last[0] = A[head, which, chunk - 1]
            T.clear(acc)
            for k in T.Pipelined(chunk // block_K, num_stages=2):
                row = which * chunk + k * block_K
                T.copy(X[row : row + block_K, head, :], x)
                T.copy(A[head, which, k * block_K : (k + 1) * block_K], a)
                for i in T.Parallel(block_K):
                    scale[i] = T.exp2(last[0] * c - a[i] * c)
                T.copy(x, rows)
                for i, j in T.Parallel(d, block_K):
                    turned[i, j] = rows[j, i] * scale[j]
                T.copy(B[row : row + block_K, :], b)
                T.gemm(turned, b, acc)
            T.copy(acc, Out[which, head, :, :])

    return main
