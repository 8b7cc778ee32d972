"""Layers over sequences: a short causal convolution, linear attention in chunks, and the delta rule."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl


@triton.heuristics(
    {
        "HAS_BIAS": lambda args: args["bias"] is not None,
        "USE_INITIAL_STATE": lambda args: args["initial_state"] is not None,
    }
)
@triton.jit
def causal_conv_forward(
    x,
    y,
    weight,
    bias,
    initial_state,
    T,
    D: tl.constexpr,
    W: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
    ACTIVATION: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr,
):
    i_d, i_t, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_d = i_d * BD + tl.arange(0, BD)
    o_t = i_t * BT + tl.arange(0, BT)
    m_d = o_d < D
    b_y = tl.zeros((BT, BD), dtype=tl.float32)
    for i_w in tl.static_range(-W + 1, 1):
        o_x = o_t + i_w
        m_x = ((o_x >= 0) & (o_x < T))[:, None] & m_d
        b_x = tl.load(x + (i_b * T + o_x[:, None]) * D + o_d, mask=m_x, other=0).to(tl.float32)
        if USE_INITIAL_STATE:
            m_c = ((o_x < 0) & (o_x >= -W))[:, None] & m_d
            b_x += tl.load(initial_state + (i_b * D + o_d) * W + (o_x + W)[:, None], mask=m_c, other=0).to(tl.float32)
        b_w = tl.load(weight + o_d * W + (i_w + W - 1), mask=m_d, other=0).to(tl.float32)
        b_y += b_x * b_w
    if HAS_BIAS:
        b_y += tl.load(bias + o_d, mask=m_d, other=0).to(tl.float32)
    if ACTIVATION == "swish" or ACTIVATION == "silu":
        b_y = b_y * tl.sigmoid(b_y)
    p_y = tl.make_block_ptr(y + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    tl.store(p_y, tl.cast(b_y, dtype=p_y.dtype.element_ty, fp_downcast_rounding="rtne"), boundary_check=(0, 1))


@triton.jit
def causal_conv_backward(
    x,
    weight,
    bias,
    dy,
    dx,
    dw,
    db,
    T,
    D: tl.constexpr,
    W: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
    NT: tl.constexpr,
    ACTIVATION: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    i_d, i_t, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_d = i_d * BD + tl.arange(0, BD)
    m_d = o_d < D
    b_dx = tl.zeros((BT, BD), dtype=tl.float32)
    x += i_b * T * D
    dy += i_b * T * D
    for i_w in tl.static_range(0, W):
        o_t = i_t * BT + tl.arange(0, BT) + i_w
        m_t = (o_t < T)[:, None] & m_d
        b_dy = tl.load(dy + o_t[:, None] * D + o_d, mask=m_t, other=0).to(tl.float32)
        if ACTIVATION == "swish":
            b_y = tl.zeros((BT, BD), dtype=tl.float32)
            for j_w in tl.static_range(-W + 1, 1):
                o_x = o_t + j_w
                b_x = tl.load(x + o_x[:, None] * D + o_d, mask=((o_x >= 0) & (o_x < T))[:, None] & m_d, other=0).to(tl.float32)
                b_y += b_x * tl.load(weight + o_d * W + (j_w + W - 1), mask=m_d, other=0)
            if HAS_BIAS:
                b_y += tl.load(bias + o_d, mask=m_d, other=0)
            b_ys = tl.sigmoid(b_y)
            b_dy = b_dy * b_ys * (1 + b_y * (1 - b_ys))
        b_w = tl.load(weight + o_d * W + (W - i_w - 1), mask=m_d, other=0).to(tl.float32)
        b_dx += tl.where(m_t, b_dy * b_w, 0)
        p_x = tl.make_block_ptr(x, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
        b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
        row = (i_b * NT + i_t) * D
        tl.store(dw + (row + o_d) * W + (W - i_w - 1), tl.sum(tl.where(m_t, b_dy * b_x, 0), 0), mask=m_d)
        if HAS_BIAS and i_w == 0:
            tl.store(db + row + o_d, tl.sum(tl.where(m_t, b_dy, 0), 0), mask=m_d)
    p_dx = tl.make_block_ptr(dx + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    tl.store(p_dx, b_dx.to(p_dx.dtype.element_ty), boundary_check=(0, 1))


class CausalConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, activation, initial_state=None):
        B, T, D = x.shape
        W, BT, BD = weight.shape[1], 16, 32
        y = torch.empty_like(x)
        causal_conv_forward[(triton.cdiv(D, BD), triton.cdiv(T, BT), B)](
            x=x, y=y, weight=weight, bias=bias, initial_state=initial_state, T=T, D=D, W=W, BT=BT, BD=BD, ACTIVATION=activation
        )
        ctx.save_for_backward(x, weight, bias)
        ctx.activation = activation
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, bias = ctx.saved_tensors
        B, T, D = x.shape
        W, BT, BD = weight.shape[1], 16, 32
        NT = triton.cdiv(T, BT)
        dx, dw = torch.empty_like(x), torch.zeros((B * NT, D, W), device=x.device)
        db = torch.zeros((B * NT, D), device=x.device) if bias is not None else None
        causal_conv_backward[(triton.cdiv(D, BD), NT, B)](
            x, weight, bias, dy.contiguous(), dx, dw, db, T, D, W, BT, BD, NT, ctx.activation, bias is not None
        )
        return dx, dw.sum(0).to(weight), db.sum(0).to(bias) if bias is not None else None, None, None


@triton.jit(do_not_specialize=["T"])
def chunk_states(
    k, v, h, T, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr, REVERSE: tl.constexpr
):
    """h[t]: the sum of k^T v over the chunks before chunk t (behind it, with REVERSE)."""
    i_k, i_v, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    NT = tl.cdiv(T, BT)
    b_h = tl.zeros([BK, BV], dtype=tl.float32)
    for i in range(NT):
        i_t = NT - 1 - i if REVERSE else i
        p_h = tl.make_block_ptr(h + (i_bh * NT + i_t) * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        tl.store(p_h, b_h.to(p_h.dtype.element_ty), boundary_check=(0, 1))
        p_k = tl.make_block_ptr(k + i_bh * T * K, (K, T), (1, K), (i_k * BK, i_t * BT), (BK, BT), (0, 1))
        p_v = tl.make_block_ptr(v + i_bh * T * V, (T, V), (V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_h += tl.dot(b_k, b_v, input_precision="ieee")


@triton.jit(do_not_specialize=["T"])
def chunk_outputs(
    q,
    k,
    v,
    h,
    o,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    BT: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    REVERSE: tl.constexpr,
):
    """o = scale * (q h + mask(q k^T) v) of each chunk; with REVERSE, keys of the same place and later count."""
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    NT = tl.cdiv(T, BT)
    o_i = tl.arange(0, BT)
    m_s = o_i[:, None] <= o_i[None, :] if REVERSE else o_i[:, None] >= o_i[None, :]
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_s = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        p_q = tl.make_block_ptr(q + i_bh * T * K, (T, K), (K, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        p_k = tl.make_block_ptr(k + i_bh * T * K, (K, T), (1, K), (i_k * BK, i_t * BT), (BK, BT), (0, 1))
        p_h = tl.make_block_ptr(h + (i_bh * NT + i_t) * K * V, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
        b_q = tl.load(p_q, boundary_check=(0, 1))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_h = tl.load(p_h, boundary_check=(0, 1))
        b_o += tl.dot(b_q, b_h, input_precision="ieee")
        b_s += tl.dot(b_q, b_k, input_precision="ieee")
    b_s = tl.where(m_s, b_s, 0)
    p_v = tl.make_block_ptr(v + i_bh * T * V, (T, V), (V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    b_v = tl.load(p_v, boundary_check=(0, 1))
    b_o = (b_o + tl.dot(b_s.to(b_v.dtype), b_v, input_precision="ieee")) * scale
    p_o = tl.make_block_ptr(o + i_bh * T * V, (T, V), (V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


def linear(q, k, v, scale, reverse=False):
    """sum over s <= t (s >= t) of scale (q_t k_s) v_s, for tensors (batches, T, .)."""
    N, T, K = q.shape
    V, BT = v.shape[-1], 16
    BK, BV = (min(32, triton.next_power_of_2(n)) for n in (K, V))
    NT = triton.cdiv(T, BT)
    h, o = torch.empty((N, NT, K, V), device=q.device), torch.empty_like(v)
    chunk_states[(triton.cdiv(K, BK), triton.cdiv(V, BV), N)](k, v, h, T, K, V, BT, BK, BV, reverse)
    chunk_outputs[(triton.cdiv(V, BV), NT, N)](q, k, v, h, o, scale, T, K, V, BT, BK, BV, reverse)
    return o


class LinearAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, scale):
        ctx.save_for_backward(q, k, v)
        ctx.scale = scale
        return linear(q, k, v, scale)

    @staticmethod
    def backward(ctx, do):
        q, k, v = ctx.saved_tensors
        do = do.contiguous()
        dq = linear(do, v, k, ctx.scale)
        dk = linear(v, do, q, ctx.scale, reverse=True)
        dv = linear(k, q, do, ctx.scale, reverse=True)
        return dq, dk, dv, None


@triton.jit
def delta_rule_forward(
    q,
    k,
    v,
    u,
    beta,
    o,
    h0,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr,
):
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    o_k, o_v = tl.arange(0, BK), i_v * BV + tl.arange(0, BV)
    p_q, p_k, p_v = q + i_bh * T * K + o_k, k + i_bh * T * K + o_k, v + i_bh * T * V + o_v
    p_u, p_o, p_beta = u + i_bh * T * V + o_v, o + i_bh * T * V + o_v, beta + i_bh * T
    mask_k, mask_v = o_k < K, o_v < V
    mask_h = mask_k[None, :] & mask_v[:, None]
    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    if USE_INITIAL_STATE:
        b_h += tl.load(h0 + i_bh * K * V + o_k[None, :] * V + o_v[:, None], mask=mask_h, other=0)
    for _ in range(0, T):
        b_k = tl.load(p_k, mask=mask_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=mask_v, other=0).to(tl.float32)
        b_q = tl.load(p_q, mask=mask_k, other=0).to(tl.float32) * scale
        b_beta = tl.load(p_beta).to(tl.float32)
        b_v -= tl.sum(b_h * b_k[None, :], axis=1)
        b_v *= b_beta
        tl.store(p_u, b_v.to(p_u.dtype.element_ty), mask=mask_v)
        b_h += b_k[None, :] * b_v[:, None]
        tl.store(p_o, tl.sum(b_h * b_q[None, :], axis=1).to(p_o.dtype.element_ty), mask=mask_v)
        p_q += K
        p_k += K
        p_o += V
        p_v += V
        p_u += V
        p_beta += 1


@triton.jit
def delta_rule_backward(
    q, k, v, u, beta, do, dq, dk, dv, dbeta, scale, T, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr
):
    i_bh = tl.program_id(0)
    o_k, o_v = tl.arange(0, BK), tl.arange(0, BV)
    mask_k, mask_v = o_k < K, o_v < V
    b_dh = tl.zeros([BK, BV], dtype=tl.float32)
    for i in range(T):
        t = i_bh * T + T - 1 - i
        b_q = tl.load(q + t * K + o_k, mask=mask_k, other=0) * scale
        b_k = tl.load(k + t * K + o_k, mask=mask_k, other=0)
        b_u = tl.load(u + t * V + o_v, mask=mask_v, other=0)
        b_do = tl.load(do + t * V + o_v, mask=mask_v, other=0)
        b_beta = tl.load(beta + t)
        b_dh += b_q[:, None] * b_do[None, :]
        b_du = tl.sum(b_dh * b_k[:, None], axis=0)
        # u = beta (v - h k): of beta, by what u / beta is
        b_e = tl.where(mask_v, b_u / b_beta, 0.0)
        tl.store(dbeta + t, tl.sum(b_du * b_e))
        b_dv = b_du * b_beta
        tl.store(dv + t * V + o_v, b_dv, mask=mask_v)
        tl.store(dk + t * K + o_k, tl.sum(b_dh * b_u[None, :], axis=1), mask=mask_k)
        b_dh -= b_k[:, None] * b_dv[None, :]
    tl.debug_barrier()
    b_h = tl.zeros([BK, BV], dtype=tl.float32)
    for i in range(T):
        t = i_bh * T + i
        b_k = tl.load(k + t * K + o_k, mask=mask_k, other=0)
        b_u = tl.load(u + t * V + o_v, mask=mask_v, other=0)
        b_do = tl.load(do + t * V + o_v, mask=mask_v, other=0)
        b_dv = tl.load(dv + t * V + o_v, mask=mask_v, other=0)
        b_dk = tl.load(dk + t * K + o_k, mask=mask_k, other=0)
        b_dk -= tl.sum(b_h * b_dv[None, :], axis=1)
        tl.store(dk + t * K + o_k, b_dk, mask=mask_k)
        b_h += b_k[:, None] * b_u[None, :]
        tl.store(dq + t * K + o_k, tl.sum(b_h * b_do[None, :], axis=1) * scale, mask=mask_k)


class DeltaRule(torch.autograd.Function):
    """h += k (beta (v - h k)); o = scale q h, step by step."""

    @staticmethod
    def forward(ctx, q, k, v, beta, scale):
        N, T, K = q.shape
        V = v.shape[-1]
        BK, BV = triton.next_power_of_2(K), min(triton.next_power_of_2(V), 8)
        u, o = torch.empty_like(v), torch.empty_like(v)
        delta_rule_forward[(triton.cdiv(V, BV), N)](
            q, k, v, u, beta, o, None, scale, T, K, V, BK, BV, USE_INITIAL_STATE=False, num_warps=1
        )
        ctx.save_for_backward(q, k, v, u, beta)
        ctx.scale = scale
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, u, beta = ctx.saved_tensors
        N, T, K = q.shape
        V = v.shape[-1]
        dq, dk, dv, dbeta = (torch.empty_like(t) for t in (q, k, v, beta))
        delta_rule_backward[(N,)](
            q,
            k,
            v,
            u,
            beta,
            do.contiguous(),
            dq,
            dk,
            dv,
            dbeta,
            ctx.scale,
            T,
            K,
            V,
            triton.next_power_of_2(K),
            triton.next_power_of_2(V),
            num_warps=2,
        )
        return dq, dk, dv, dbeta, None
