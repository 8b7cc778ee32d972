"""Programs of rows, columns and single elements, as users of Triton write them."""

import triton
import triton.language as tl


@triton.jit
def softmax_cols(x, o, M, N, BN: tl.constexpr, BM: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.full((BN,), float("-inf"), tl.float32)
    s = tl.zeros((BN,), tl.float32)
    for i in range(0, M, BM):
        r = i + tl.arange(0, BM)
        t = tl.load(x + r[:, None] * N + n[None, :], mask=(r[:, None] < M) & (n[None, :] < N), other=float("-inf")).to(tl.float32)
        new = tl.maximum(m, tl.max(t, 0))
        s = s * tl.exp(m - new) + tl.sum(tl.exp(t - new[None, :]), 0)
        m = new
    for i in range(0, M, BM):
        r = i + tl.arange(0, BM)
        k = (r[:, None] < M) & (n[None, :] < N)
        t = tl.load(x + r[:, None] * N + n[None, :], mask=k, other=float("-inf")).to(tl.float32)
        tl.store(o + r[:, None] * N + n[None, :], (tl.exp(t - m[None, :]) / s[None, :]).to(o.dtype.element_ty), mask=k)


@triton.jit
def fused_add_rms(x, res, w, o, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    k = c < N
    t = tl.load(x + row * N + c, mask=k, other=0.0).to(tl.float32) + tl.load(res + row * N + c, mask=k, other=0.0).to(tl.float32)
    tl.store(res + row * N + c, t.to(res.dtype.element_ty), mask=k)
    rstd = 1 / tl.sqrt(tl.sum(t * t, axis=0) / N + eps)
    tl.store(o + row * N + c, (t * rstd * tl.load(w + c, mask=k).to(tl.float32)).to(o.dtype.element_ty), mask=k)


@triton.jit
def layernorm_loop(x, o, w, b, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * N
    o += row * N
    _m = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        _m += tl.load(x + c, mask=c < N, other=0.0).to(tl.float32)
    mean = tl.sum(_m, axis=0) / N
    _v = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        t = tl.load(x + c, mask=c < N, other=0.0).to(tl.float32)
        t = tl.where(c < N, t - mean, 0.0)
        _v += t * t
    rstd = 1 / tl.sqrt(tl.sum(_v, axis=0) / N + eps)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        k = c < N
        y = (tl.load(x + c, mask=k, other=0.0).to(tl.float32) - mean) * rstd * tl.load(w + c, mask=k) + tl.load(b + c, mask=k)
        tl.store(o + c, y.to(o.dtype.element_ty), mask=k)


@triton.jit
def groupnorm_nhwc(x, o, w, b, HW, C, eps, CG: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    g = tl.program_id(1)
    c = g * CG + tl.arange(0, CG)
    s = tl.zeros((BLOCK, CG), tl.float32)
    q = tl.zeros((BLOCK, CG), tl.float32)
    for i in range(0, HW, BLOCK):
        r = i + tl.arange(0, BLOCK)
        t = tl.load(x + n * HW * C + r[:, None] * C + c[None, :], mask=r[:, None] < HW, other=0.0).to(tl.float32)
        s += t
        q += t * t
    cnt = HW * CG
    mean = tl.sum(tl.sum(s, 1), 0) / cnt
    var = tl.sum(tl.sum(q, 1), 0) / cnt - mean * mean
    r_ = tl.rsqrt(var + eps)
    ww = tl.load(w + c)
    bb = tl.load(b + c)
    for i in range(0, HW, BLOCK):
        r = i + tl.arange(0, BLOCK)
        p = n * HW * C + r[:, None] * C + c[None, :]
        t = tl.load(x + p, mask=r[:, None] < HW, other=0.0).to(tl.float32)
        y = (t - mean) * r_ * ww[None, :] + bb[None, :]
        y = y * tl.sigmoid(y)
        tl.store(o + p, y.to(o.dtype.element_ty), mask=r[:, None] < HW)


@triton.jit
def bn_stats(x, mean, var, N, C, HW, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    s = tl.zeros((BLOCK,), tl.float32)
    q = tl.zeros((BLOCK,), tl.float32)
    for n in range(N):
        for i in range(0, HW, BLOCK):
            k = i + tl.arange(0, BLOCK)
            t = tl.load(x + (n * C + c) * HW + k, mask=k < HW, other=0.0).to(tl.float32)
            s += t
            q += t * t
    m = tl.sum(s, 0) / (N * HW)
    tl.store(mean + c, m)
    tl.store(var + c, tl.sum(q, 0) / (N * HW) - m * m)


@triton.jit
def rope(q, cos, sin, T, H, D: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    half = D // 2
    i = tl.arange(0, D // 2)
    c = tl.load(cos + t * half + i)
    s = tl.load(sin + t * half + i)
    base = q + (t * H + h) * D
    a = tl.load(base + i).to(tl.float32)
    b = tl.load(base + half + i).to(tl.float32)
    tl.store(base + i, (a * c - b * s).to(q.dtype.element_ty))
    tl.store(base + half + i, (b * c + a * s).to(q.dtype.element_ty))


@triton.jit
def rope_pairs(q, cos, sin, o, T, H: tl.constexpr, D: tl.constexpr):
    t = tl.program_id(0)
    h = tl.arange(0, H)
    i = tl.arange(0, D)
    p = q + (t * H + h[:, None]) * D + i[None, :]
    x = tl.load(p).to(tl.float32)
    other = tl.load(q + (t * H + h[:, None]) * D + (i ^ 1)[None, :]).to(tl.float32)
    c = tl.load(cos + t * (D // 2) + i // 2)[None, :]
    s = tl.load(sin + t * (D // 2) + i // 2)[None, :]
    sign = tl.where(i % 2 == 0, -1.0, 1.0)[None, :]
    tl.store(o + (t * H + h[:, None]) * D + i[None, :], (x * c + sign * other * s).to(o.dtype.element_ty))


@triton.jit
def silu_mul(x, o, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = c < D
    g = tl.load(x + row * 2 * D + c, mask=k).to(tl.float32)
    u = tl.load(x + row * 2 * D + D + c, mask=k).to(tl.float32)
    tl.store(o + row * D + c, (g * tl.sigmoid(g) * u).to(o.dtype.element_ty), mask=k)


@triton.jit
def adamw(p, g, m, v, n, lr, b1, b2, eps, wd, c1, c2, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = i < n
    P = tl.load(p + i, mask=k).to(tl.float32)
    G = tl.load(g + i, mask=k).to(tl.float32)
    Mm = tl.load(m + i, mask=k)
    V = tl.load(v + i, mask=k)
    P *= 1 - lr * wd
    Mm = b1 * Mm + (1 - b1) * G
    V = b2 * V + (1 - b2) * G * G
    P -= lr * (Mm / c1) / (tl.sqrt(V / c2) + eps)
    tl.store(p + i, P.to(p.dtype.element_ty), mask=k)
    tl.store(m + i, Mm, mask=k)
    tl.store(v + i, V, mask=k)


@triton.jit
def dropout(x, o, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = i < n
    keep = tl.rand(seed, i) > p
    tl.store(o + i, tl.where(keep, tl.load(x + i, mask=k) / (1 - p), 0.0), mask=k)


@triton.jit
def cumsum_rows(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    carry = tl.zeros((BM,), tl.float32)
    for i in range(0, N, BN):
        c = i + tl.arange(0, BN)
        k = (m[:, None] < M) & (c[None, :] < N)
        t = tl.load(x + m[:, None] * N + c[None, :], mask=k, other=0.0).to(tl.float32)
        s = tl.cumsum(t, 1) + carry[:, None]
        carry += tl.sum(t, 1)
        tl.store(o + m[:, None] * N + c[None, :], s.to(o.dtype.element_ty), mask=k)


@triton.jit
def cumsum_cols(x, o, T, D, BT: tl.constexpr, BD: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1)
    carry = tl.zeros((BD,), tl.float32)
    for i in range(0, T, BT):
        t = i + tl.arange(0, BT)
        p = b * T * D + t[:, None] * D + d[None, :]
        v = tl.load(x + p).to(tl.float32)
        s = tl.cumsum(v, 0) + carry[None, :]
        carry += tl.sum(v, 0)
        tl.store(o + p, s.to(o.dtype.element_ty))


@triton.jit
def combine(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def gated_scan(a, x, o, T, D, BT: tl.constexpr, BD: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1)
    h = tl.zeros((BD,), tl.float32)
    for i in range(0, T, BT):
        t = i + tl.arange(0, BT)
        p = b * T * D + t[:, None] * D + d[None, :]
        g = tl.load(a + p).to(tl.float32)
        v = tl.load(x + p).to(tl.float32)
        ga, hv = tl.associative_scan((g, v), 0, combine)
        y = hv + ga * h[None, :]
        tl.store(o + p, y.to(o.dtype.element_ty))
        h = tl.sum(tl.where((tl.arange(0, BT) == BT - 1)[:, None], y, 0.0), 0)


@triton.jit
def rnn_scan(a, x, o, T, D, BD: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1)
    h = tl.zeros((BD,), tl.float32)
    p = b * T * D + d
    for i in range(0, T):
        g = tl.load(a + p).to(tl.float32)
        v = tl.load(x + p).to(tl.float32)
        h = g * h + v
        tl.store(o + p, h.to(o.dtype.element_ty))
        p += D


@triton.jit
def mamba_scan(u, dt, A, B, C, o, T, D, S: tl.constexpr, BD: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    b = tl.program_id(1)
    n = tl.arange(0, S)
    a = tl.load(A + d[:, None] * S + n[None, :])
    h = tl.zeros((BD, S), tl.float32)
    for t in range(T):
        x = tl.load(u + (b * T + t) * D + d).to(tl.float32)
        z = tl.load(dt + (b * T + t) * D + d).to(tl.float32)
        z = tl.where(z > 20, z, tl.log(1 + tl.exp(z)))
        bb = tl.load(B + (b * T + t) * S + n).to(tl.float32)
        cc = tl.load(C + (b * T + t) * S + n).to(tl.float32)
        h = h * tl.exp(z[:, None] * a) + (z * x)[:, None] * bb[None, :]
        tl.store(o + (b * T + t) * D + d, tl.sum(h * cc[None, :], 1).to(o.dtype.element_ty))


@triton.jit
def causal_conv1d(x, w, o, T, D, K: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    b = tl.program_id(2)
    acc = tl.zeros((BT, BD), tl.float32)
    for j in tl.static_range(K):
        r = t - (K - 1) + j
        v = tl.load(x + b * T * D + r[:, None] * D + d[None, :], mask=(r[:, None] >= 0) & (r[:, None] < T), other=0.0).to(
            tl.float32
        )
        acc += v * tl.load(w + d * K + j)[None, :]
    acc = acc * tl.sigmoid(acc)
    tl.store(o + b * T * D + t[:, None] * D + d[None, :], acc.to(o.dtype.element_ty), mask=t[:, None] < T)


@triton.jit
def argmax_rows(x, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    at = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        t = tl.load(x + row * N + c, mask=c < N, other=float("-inf")).to(tl.float32)
        more = t > best
        best = tl.where(more, t, best)
        at = tl.where(more, c, at)
    m = tl.max(best, 0)
    tl.store(o + row, tl.min(tl.where(best == m, at, N), 0))


@triton.jit
def topk_softmax(x, vals, idx, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, M):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, N)
    t = tl.load(x + m[:, None] * N + n[None, :], mask=m[:, None] < M, other=float("-inf")).to(tl.float32)
    t = tl.exp(t - tl.max(t, 1)[:, None])
    t = t / tl.sum(t, 1)[:, None]
    for j in tl.static_range(K):
        v = tl.max(t, 1)
        i = tl.argmax(t, 1)
        tl.store(vals + m * K + j, v, mask=m < M)
        tl.store(idx + m * K + j, i.to(tl.int32), mask=m < M)
        t = tl.where(n[None, :] == i[:, None], -1.0, t)


@triton.jit
def sort_rows(x, o, N: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, N)
    tl.store(o + row * N + c, tl.sort(tl.load(x + row * N + c)))


@triton.jit
def histo(x, o, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    h = tl.histogram(v, BINS)
    tl.atomic_add(o + tl.arange(0, BINS), h)


@triton.jit
def embed_bag(idx, w, o, L, D, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for j in range(L):
        r = tl.load(idx + b * L + j)
        acc += tl.load(w + r * D + d, mask=d < D, other=0.0).to(tl.float32)
    tl.store(o + b * D + d, (acc / L).to(o.dtype.element_ty), mask=d < D)


@triton.jit
def scatter_add(idx, g, dw, n, D, BR: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    i = tl.load(idx + r, mask=r < n, other=0)
    v = tl.load(g + r[:, None] * D + d[None, :], mask=r[:, None] < n, other=0.0).to(tl.float32)
    tl.atomic_add(dw + i[:, None] * D + d[None, :], v, mask=r[:, None] < n)


@triton.jit
def transpose(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    t = tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(o + n[:, None] * M + m[None, :], t.T, mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def permute_flat(x, o, n, A, B, C, D, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = i % D
    b = (i // D) % B
    c = (i // (D * B)) % C
    a = i // (D * B * C)
    tl.store(o + i, tl.load(x + ((a * B + b) * C + c) * D + d, mask=i < n), mask=i < n)


@triton.jit
def colsum(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.program_id(1) * BM, M, BM * tl.num_programs(1)):
        m = i + tl.arange(0, BM)
        acc += tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0).to(tl.float32)
    tl.atomic_add(o + n, tl.sum(acc, 0), mask=n < N)


@triton.jit
def token_quant(x, q, s, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    k = c < N
    t = tl.load(x + row * N + c, mask=k, other=0.0).to(tl.float32)
    a = tl.max(tl.abs(t), 0)
    sc = tl.maximum(a, 1e-10) / 127.0
    y = t / sc
    y = tl.where(y >= 0, y + 0.5, y - 0.5).to(tl.int8)
    tl.store(q + row * N + c, y, mask=k)
    tl.store(s + row, sc)


@triton.jit
def group_quant_fp8(x, q, s, N, eps, BLOCK: tl.constexpr):
    g = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    t = tl.load(x + g * BLOCK + c).to(tl.float32)
    a = tl.maximum(tl.max(tl.abs(t), 0), eps)
    sc = a / 448.0
    y = tl.clamp(t / sc, -448.0, 448.0).to(q.dtype.element_ty)
    tl.store(q + g * BLOCK + c, y)
    tl.store(s + g, sc)


@triton.jit
def cross_entropy(x, lab, loss, N, cap, smooth, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(lab + row)
    m = float("-inf")
    d = 0.0
    tot = 0.0
    ly = tl.load(x + row * N + y).to(tl.float32)
    ly = cap * tl.extra.libdevice.tanh(ly / cap) if cap > 0 else ly
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        t = tl.load(x + row * N + c, mask=c < N, other=float("-inf")).to(tl.float32)
        tot += tl.sum(tl.where(c < N, t, 0.0), 0)
        b = tl.max(t, 0)
        new = tl.maximum(m, b)
        d = d * tl.exp(m - new) + tl.sum(tl.exp(t - new), 0)
        m = new
    lse = m + tl.log(d)
    tl.store(loss + row, lse - (1 - smooth) * ly - smooth * tot / N)
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        t = tl.load(x + row * N + c, mask=c < N, other=float("-inf")).to(tl.float32)
        g = tl.exp(t - lse) - smooth / N
        g = tl.where(c == y, g - (1 - smooth), g)
        tl.store(x + row * N + c, g.to(x.dtype.element_ty), mask=c < N)


@triton.jit
def maxpool_nhwc(x, o, H, W, C, OH, OW, BLOCK: tl.constexpr, BC: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    b = tl.program_id(2)
    oh = p // OW
    ow = p % OW
    best = tl.full((BLOCK, BC), float("-inf"), tl.float32)
    for r in tl.static_range(3):
        for s in tl.static_range(3):
            ih = oh * 2 - 1 + r
            iw = ow * 2 - 1 + s
            k = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (p < OH * OW)
            t = tl.load(x + ((b * H + ih) * W + iw)[:, None] * C + c[None, :], mask=k[:, None], other=float("-inf")).to(
                tl.float32
            )
            best = tl.maximum(best, t)
    tl.store(o + (b * OH * OW + p)[:, None] * C + c[None, :], best.to(o.dtype.element_ty), mask=(p < OH * OW)[:, None])


@triton.jit
def bilinear(x, o, C, H, W, OH, OW, sh, sw, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = i < n
    ow = i % OW
    oh = (i // OW) % OH
    c = i // (OW * OH)
    fy = tl.maximum((oh + 0.5) * sh - 0.5, 0.0)
    fx = tl.maximum((ow + 0.5) * sw - 0.5, 0.0)
    y0 = fy.to(tl.int32)
    x0 = fx.to(tl.int32)
    y1 = tl.minimum(y0 + 1, H - 1)
    x1 = tl.minimum(x0 + 1, W - 1)
    wy = fy - y0
    wx = fx - x0
    b = x + c * H * W
    v00 = tl.load(b + y0 * W + x0, mask=k, other=0.0).to(tl.float32)
    v01 = tl.load(b + y0 * W + x1, mask=k, other=0.0).to(tl.float32)
    v10 = tl.load(b + y1 * W + x0, mask=k, other=0.0).to(tl.float32)
    v11 = tl.load(b + y1 * W + x1, mask=k, other=0.0).to(tl.float32)
    v = (v00 * (1 - wx) + v01 * wx) * (1 - wy) + (v10 * (1 - wx) + v11 * wx) * wy
    tl.store(o + i, v.to(o.dtype.element_ty), mask=k)


@triton.jit
def jagged_mean(x, offs, o, D, BL: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    lo = tl.load(offs + b)
    hi = tl.load(offs + b + 1)
    acc = tl.zeros((BL, BD), tl.float32)
    for i in range(lo, hi, BL):
        r = i + tl.arange(0, BL)
        acc += tl.load(x + r[:, None] * D + d[None, :], mask=(r[:, None] < hi) & (d[None, :] < D), other=0.0).to(tl.float32)
    tl.store(o + b * D + d, tl.sum(acc, 0) / tl.maximum(hi - lo, 1), mask=d < D)


@triton.jit
def ln_bwd(dx, dy, dwp, dbp, x, w, mean, rstd, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    k = c < N
    ww = tl.load(w + c, mask=k, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    for r in range(p * ROWS, p * ROWS + ROWS):
        xx = tl.load(x + r * N + c, mask=k, other=0.0).to(tl.float32)
        yy = tl.load(dy + r * N + c, mask=k, other=0.0).to(tl.float32)
        mu = tl.load(mean + r)
        rs = tl.load(rstd + r)
        xh = tl.where(k, (xx - mu) * rs, 0.0)
        wdy = ww * yy
        c1 = tl.sum(xh * wdy, 0) / N
        c2 = tl.sum(wdy, 0) / N
        tl.store(dx + r * N + c, ((wdy - xh * c1 - c2) * rs).to(dx.dtype.element_ty), mask=k)
        dw += yy * xh
        db += yy
    tl.store(dwp + p * N + c, dw, mask=k)
    tl.store(dbp + p * N + c, db, mask=k)


@triton.jit
def where_chain(x, y, z, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = i < n
    a = tl.load(x + i, mask=k).to(tl.float32)
    b = tl.load(y + i, mask=k).to(tl.float32)
    c = tl.load(z + i, mask=k).to(tl.float32)
    g = 0.5 * a * (1 + tl.erf(a * 0.70710678))
    r = tl.where(b > 0, g * b, tl.exp(b) - 1) + tl.log(tl.abs(c) + 1) * tl.cos(a)
    tl.store(o + i, r.to(o.dtype.element_ty), mask=k)
