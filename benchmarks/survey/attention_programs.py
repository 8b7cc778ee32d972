"""Programs of attention, as users of Triton write them."""

import triton
import triton.language as tl


@triton.jit
def varlen(q, k, v, o, cu, scale, H, KVH, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    b = tl.program_id(2)
    h = tl.program_id(1)
    lo = tl.load(cu + b)
    L = tl.load(cu + b + 1) - lo
    start = tl.program_id(0) * BM
    if start >= L:
        return
    m = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    kvh = h // (H // KVH)
    qq = tl.load(q + ((lo + m[:, None]) * H + h) * D + d[None, :], mask=m[:, None] < L, other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    mi = tl.full((BM,), float("-inf"), tl.float32)
    li = tl.zeros((BM,), tl.float32)
    end = tl.minimum(start + BM, L) if CAUSAL else L
    for s in range(0, end, BN):
        s = tl.multiple_of(s, BN)
        kk = tl.load(k + ((lo + s + n[None, :]) * KVH + kvh) * D + d[:, None], mask=(s + n[None, :]) < L, other=0.0)
        qk = tl.dot(qq, kk) * scale
        ok = (s + n[None, :]) < L
        if CAUSAL:
            ok = ok & (m[:, None] >= s + n[None, :])
        qk = tl.where(ok, qk, float("-inf"))
        mn = tl.maximum(mi, tl.max(qk, 1))
        p = tl.exp(qk - mn[:, None])
        al = tl.exp(mi - mn)
        li = li * al + tl.sum(p, 1)
        acc = acc * al[:, None]
        vv = tl.load(v + ((lo + s + n[:, None]) * KVH + kvh) * D + d[None, :], mask=(s + n[:, None]) < L, other=0.0)
        acc += tl.dot(p.to(vv.dtype), vv)
        mi = mn
    tl.store(o + ((lo + m[:, None]) * H + h) * D + d[None, :], (acc / li[:, None]).to(o.dtype.element_ty), mask=m[:, None] < L)


@triton.jit
def window_cap(q, k, v, o, scale, cap, W, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    h = tl.program_id(1)
    start = tl.program_id(0) * BM
    m = start + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    base = h * T * D
    qq = tl.load(q + base + m[:, None] * D + d[None, :], mask=m[:, None] < T, other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    mi = tl.full((BM,), -1e30, tl.float32)
    li = tl.zeros((BM,), tl.float32)
    lo = tl.maximum(0, (start - W) // BN * BN)
    hi = tl.minimum(start + BM, T)
    for s in range(lo, hi, BN):
        kk = tl.load(k + base + (s + n)[:, None] * D + d[None, :], mask=(s + n)[:, None] < T, other=0.0)
        qk = tl.dot(qq, tl.trans(kk)) * scale
        qk = cap * (2 * tl.sigmoid(2 * qk / cap) - 1)
        dist = m[:, None] - (s + n)[None, :]
        qk = tl.where((dist >= 0) & (dist < W), qk, -1e30)
        mn = tl.maximum(mi, tl.max(qk, 1))
        p = tl.exp(qk - mn[:, None])
        al = tl.exp(mi - mn)
        li = li * al + tl.sum(p, 1)
        vv = tl.load(v + base + (s + n)[:, None] * D + d[None, :], mask=(s + n)[:, None] < T, other=0.0)
        acc = acc * al[:, None] + tl.dot(p.to(vv.dtype), vv)
        mi = mn
    tl.store(o + base + m[:, None] * D + d[None, :], (acc / li[:, None]).to(o.dtype.element_ty), mask=m[:, None] < T)


@triton.jit
def alibi_bias(q, k, v, bias, o, scale, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    h = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    base = h * T * D
    Q = tl.make_block_ptr(q + base, (T, D), (D, 1), (tl.program_id(0) * BM, 0), (BM, D), (1, 0))
    K = tl.make_block_ptr(k + base, (D, T), (1, D), (0, 0), (D, BN), (0, 1))
    V = tl.make_block_ptr(v + base, (T, D), (D, 1), (0, 0), (BN, D), (1, 0))
    qq = tl.load(Q)
    acc = tl.zeros((BM, D), tl.float32)
    mi = tl.full((BM,), float("-inf"), tl.float32)
    li = tl.zeros((BM,), tl.float32)
    for s in range(0, T, BN):
        n = s + tl.arange(0, BN)
        qk = tl.dot(qq, tl.load(K)) * scale
        qk += tl.load(bias + h * T * T + m[:, None] * T + n[None, :]).to(tl.float32)
        mn = tl.maximum(mi, tl.max(qk, 1))
        p = tl.math.exp2((qk - mn[:, None]) * 1.44269504)
        al = tl.math.exp2((mi - mn) * 1.44269504)
        li = li * al + tl.sum(p, 1)
        acc = acc * al[:, None]
        acc = tl.dot(p.to(qq.dtype), tl.load(V), acc)
        mi = mn
        K = tl.advance(K, (0, BN))
        V = tl.advance(V, (BN, 0))
    tl.store(o + base + m[:, None] * D + d[None, :], (acc / li[:, None]).to(o.dtype.element_ty))


@triton.jit
def decode_split(
    q,
    kc,
    vc,
    table,
    lens,
    mid,
    scale,
    H,
    G: tl.constexpr,
    D: tl.constexpr,
    PAGE: tl.constexpr,
    SPLIT,
    KVH,
    MAXP,
    BG: tl.constexpr,
):
    b = tl.program_id(0)
    kvh = tl.program_id(1)
    sp = tl.program_id(2)
    L = tl.load(lens + b)
    per = tl.cdiv(tl.cdiv(L, SPLIT), PAGE) * PAGE
    lo = sp * per
    hi = tl.minimum(lo + per, L)
    g = tl.arange(0, BG)
    d = tl.arange(0, D)
    n = tl.arange(0, PAGE)
    qq = tl.load(q + (b * H + kvh * G + g)[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    acc = tl.zeros((BG, D), tl.float32)
    mi = tl.full((BG,), -1e30, tl.float32)
    li = tl.zeros((BG,), tl.float32)
    for s in range(lo, hi, PAGE):
        page = tl.load(table + b * MAXP + s // PAGE)
        ok = s + n < hi
        kk = tl.load(kc + ((page * PAGE + n)[None, :] * KVH + kvh) * D + d[:, None], mask=ok[None, :], other=0.0)
        qk = tl.dot(qq, kk) * scale
        qk = tl.where(ok[None, :], qk, -1e30)
        mn = tl.maximum(mi, tl.max(qk, 1))
        p = tl.exp(qk - mn[:, None])
        al = tl.exp(mi - mn)
        li = li * al + tl.sum(p, 1)
        vv = tl.load(vc + ((page * PAGE + n)[:, None] * KVH + kvh) * D + d[None, :], mask=ok[:, None], other=0.0)
        acc = acc * al[:, None] + tl.dot(p.to(vv.dtype), vv)
        mi = mn
    base = mid + ((b * H + kvh * G + g) * SPLIT + sp)[:, None] * (D + 1)
    tl.store(base + d[None, :], acc / tl.maximum(li, 1e-30)[:, None], mask=(g < G)[:, None])
    tl.store(mid + ((b * H + kvh * G + g) * SPLIT + sp) * (D + 1) + D, mi + tl.log(tl.maximum(li, 1e-30)), mask=g < G)


@triton.jit
def decode_merge(mid, o, SPLIT: tl.constexpr, D: tl.constexpr):
    r = tl.program_id(0)
    d = tl.arange(0, D)
    m = -1e30
    s = 0.0
    acc = tl.zeros((D,), tl.float32)
    for i in range(SPLIT):
        lse = tl.load(mid + (r * SPLIT + i) * (D + 1) + D)
        v = tl.load(mid + (r * SPLIT + i) * (D + 1) + d)
        mn = tl.maximum(m, lse)
        a = tl.exp(m - mn)
        w = tl.exp(lse - mn)
        acc = acc * a + w * v
        s = s * a + w
        m = mn
    tl.store(o + r * D + d, (acc / s).to(o.dtype.element_ty))


@triton.jit
def decode_vec(q, k, v, o, scale, T, H, D: tl.constexpr, BN: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    base = (b * H + h) * T * D
    qq = tl.load(q + (b * H + h) * D + d).to(tl.float32) * scale
    acc = tl.zeros((D,), tl.float32)
    mi = -1e30
    li = 0.0
    for s in range(0, T, BN):
        kk = tl.load(k + base + (s + n)[:, None] * D + d[None, :], mask=(s + n)[:, None] < T, other=0.0).to(tl.float32)
        qk = tl.sum(qq[None, :] * kk, 1)
        qk = tl.where(s + n < T, qk, -1e30)
        mn = tl.maximum(mi, tl.max(qk, 0))
        p = tl.exp(qk - mn)
        al = tl.exp(mi - mn)
        li = li * al + tl.sum(p, 0)
        vv = tl.load(v + base + (s + n)[:, None] * D + d[None, :], mask=(s + n)[:, None] < T, other=0.0).to(tl.float32)
        acc = acc * al + tl.sum(p[:, None] * vv, 0)
        mi = mn
    tl.store(o + (b * H + h) * D + d, (acc / li).to(o.dtype.element_ty))


@triton.jit
def linear_attn(q, k, v, o, T, D: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    h = tl.program_id(1)
    c = tl.program_id(0) * BV + tl.arange(0, BV)
    t = tl.arange(0, BT)
    d = tl.arange(0, D)
    base = h * T * D
    S = tl.zeros((D, BV), tl.float32)
    tri = t[:, None] >= t[None, :]
    for s in range(0, T, BT):
        qq = tl.load(q + base + (s + t)[:, None] * D + d[None, :])
        kk = tl.load(k + base + (s + t)[None, :] * D + d[:, None])
        vv = tl.load(v + base + (s + t)[:, None] * D + c[None, :])
        a = tl.where(tri, tl.dot(qq, kk), 0.0)
        y = tl.dot(a.to(vv.dtype), vv) + tl.dot(qq, S.to(qq.dtype))
        S += tl.dot(kk, vv)
        tl.store(o + base + (s + t)[:, None] * D + c[None, :], y.to(o.dtype.element_ty))


@triton.jit
def bwd_dkdv(q, k, v, do, lse, delta, dk, dv, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    h = tl.program_id(1)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m0 = tl.arange(0, BM)
    d = tl.arange(0, D)
    base = h * T * D
    kk = tl.load(k + base + n[:, None] * D + d[None, :])
    vv = tl.load(v + base + n[:, None] * D + d[None, :])
    gk = tl.zeros((BN, D), tl.float32)
    gv = tl.zeros((BN, D), tl.float32)
    for s in range(tl.program_id(0) * BN // BM * BM, T, BM):
        m = s + m0
        qq = tl.load(q + base + m[:, None] * D + d[None, :])
        dd = tl.load(do + base + m[:, None] * D + d[None, :])
        ll = tl.load(lse + h * T + m)
        de = tl.load(delta + h * T + m)
        p = tl.exp(tl.dot(qq, tl.trans(kk)) * scale - ll[:, None])
        p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        gv += tl.dot(tl.trans(p.to(dd.dtype)), dd)
        dp = tl.dot(dd, tl.trans(vv))
        ds = (p * (dp - de[:, None]) * scale).to(qq.dtype)
        gk += tl.dot(tl.trans(ds), qq)
    tl.store(dk + base + n[:, None] * D + d[None, :], gk.to(dk.dtype.element_ty))
    tl.store(dv + base + n[:, None] * D + d[None, :], gv.to(dv.dtype.element_ty))
