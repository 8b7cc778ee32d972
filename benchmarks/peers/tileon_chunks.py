"""Loops over chunks: attention whose blocks a mask leaves out, states of linear attention and of the delta rule."""

import tileon
import tileon.language as tl


@tileon.jit
def masked_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, mask_ptr, sm_scale, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):
    """mask: [rows of blocks, blocks]; a block of keys where it is 0 is left out."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * N * D
    offs_m, offs_n, offs_d = block * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, D)
    q = tl.load(q_ptr + base + offs_m[:, None] * D + offs_d[None, :])
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    blocks = tl.cdiv(N, BLOCK_N)
    for i in range(0, blocks):
        if tl.load(mask_ptr + block * blocks + i) != 0:
            n = i * BLOCK_N + offs_n
            k = tl.load(k_ptr + base + n[None, :] * D + offs_d[:, None])
            scores = tl.dot(q, k) * (sm_scale * 1.44269504)
            new_top = tl.maximum(top, tl.max(scores, 1))
            weights = tl.math.exp2(scores - new_top[:, None])
            old = tl.math.exp2(top - new_top)
            v = tl.load(v_ptr + base + n[:, None] * D + offs_d[None, :])
            acc = acc * old[:, None]
            acc = tl.dot(weights.to(v.dtype), v, acc)
            total = total * old + tl.sum(weights, 1)
            top = new_top
    acc = acc / total[:, None]
    tl.store(out_ptr + base + offs_m[:, None] * D + offs_d[None, :], acc.to(out_ptr.dtype.element_ty))


@tileon.jit
def states(
    k, v, g, h, N, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr
):
    """Of gated linear attention: [chunks, heads, K, V], before each chunk of BT rows."""
    i_k, i_v, head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    state = tl.zeros([BK, BV], dtype=tl.float32)
    for t in range(tl.cdiv(N, BT)):
        p_k = tl.make_block_ptr(k + head * K, (K, N), (1, H * K), (i_k * BK, t * BT), (BK, BT), (0, 1))
        p_v = tl.make_block_ptr(v + head * V, (N, V), (H * V, 1), (t * BT, i_v * BV), (BT, BV), (1, 0))
        place = (t * H + head).to(tl.int64) * K * V
        p_h = tl.make_block_ptr(h + place, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        tl.store(p_h, state.to(p_h.dtype.element_ty), boundary_check=(0, 1))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        rows = t * BT + tl.arange(0, BT)
        last = tl.load(g + (min((t + 1) * BT, N) - 1) * H + head)
        gate = tl.load(g + rows * H + head, mask=rows < N, other=0.0)
        state *= tl.exp(last)
        b_v = (b_v * tl.exp(last - gate)[:, None]).to(b_v.dtype)
        state += tl.dot(b_k, b_v)


@tileon.jit
def delta_states(k, v, w, new_v, g, h, N, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    """Of the gated delta rule, K = 128 in two halves; new_v: what of v the state before each chunk did not know."""
    i_v, head = tl.program_id(0), tl.program_id(1)
    h1, h2 = tl.zeros([64, BV], dtype=tl.float32), tl.zeros([64, BV], dtype=tl.float32)
    k += head * K
    w += head * K
    v += head * V
    new_v += head * V
    h += head * K * V
    for t in range(tl.cdiv(N, BT)):
        place = (t * H).to(tl.int64) * K * V
        p_1 = tl.make_block_ptr(h + place, (K, V), (V, 1), (0, i_v * BV), (64, BV), (1, 0))
        p_2 = tl.make_block_ptr(h + place, (K, V), (V, 1), (64, i_v * BV), (64, BV), (1, 0))
        tl.store(p_1, h1.to(p_1.dtype.element_ty), boundary_check=(0, 1))
        tl.store(p_2, h2.to(p_2.dtype.element_ty), boundary_check=(0, 1))
        p_w = tl.make_block_ptr(w, (N, K), (H * K, 1), (t * BT, 0), (BT, 64), (1, 0))
        b_w = tl.load(p_w, boundary_check=(0, 1))
        known = tl.dot(b_w, h1.to(b_w.dtype))
        p_w = tl.make_block_ptr(w, (N, K), (H * K, 1), (t * BT, 64), (BT, 64), (1, 0))
        b_w = tl.load(p_w, boundary_check=(0, 1))
        known += tl.dot(b_w, h2.to(b_w.dtype))
        p_v = tl.make_block_ptr(v, (N, V), (H * V, 1), (t * BT, i_v * BV), (BT, BV), (1, 0))
        b_v = tl.load(p_v, boundary_check=(0, 1)) - known
        p_new = tl.make_block_ptr(new_v, (N, V), (H * V, 1), (t * BT, i_v * BV), (BT, BV), (1, 0))
        tl.store(p_new, b_v.to(p_new.dtype.element_ty), boundary_check=(0, 1))
        last = tl.load(g + (min((t + 1) * BT, N) - 1) * H + head)
        p_g = tl.make_block_ptr(g + head, (N,), (H,), (t * BT,), (BT,), (0,))
        b_v = b_v * tl.exp(last - tl.load(p_g, boundary_check=(0,)))[:, None]
        b_v = b_v.to(b_w.dtype)
        h1 *= tl.exp(last)
        h2 *= tl.exp(last)
        p_k = tl.make_block_ptr(k, (K, N), (1, H * K), (0, t * BT), (64, BT), (0, 1))
        h1 += tl.dot(tl.load(p_k, boundary_check=(0, 1)), b_v)
        p_k = tl.make_block_ptr(k, (K, N), (1, H * K), (64, t * BT), (64, BT), (0, 1))
        h2 += tl.dot(tl.load(p_k, boundary_check=(0, 1)), b_v)
