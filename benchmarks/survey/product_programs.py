"""Programs with products, as users of Triton write them."""

import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACT: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    pa = a + offs_m[:, None] * sam + offs_k[None, :] * sak
    pb = b + offs_k[:, None] * sbk + offs_n[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ma = (offs_m[:, None] < M) & (offs_k[None, :] + k < K)
        mb = (offs_k[:, None] + k < K) & (offs_n[None, :] < N)
        x = tl.load(pa, mask=ma, other=0.0)
        y = tl.load(pb, mask=mb, other=0.0)
        acc += tl.dot(x, y)
        pa += BK * sak
        pb += BK * sbk
    if ACT == 1:
        acc = acc * tl.sigmoid(1.702 * acc)
    tl.store(
        c + offs_m[:, None] * scm + offs_n[None, :] * scn,
        acc.to(c.dtype.element_ty),
        mask=(offs_m[:, None] < M) & (offs_n[None, :] < N),
    )


@triton.jit
def splitk(a, b, c, M, N, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(0)
    z = tl.program_id(1)
    nn = tl.cdiv(N, BN)
    rm = (pid // nn) * BM + tl.arange(0, BM)
    rn = (pid % nn) * BN + tl.arange(0, BN)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)
    rk = z * BK + tl.arange(0, BK)
    A = a + ram[:, None] * sam + rk[None, :]
    B = b + rk[:, None] * sbk + rbn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT)):
        rem = K - k * (BK * SPLIT)
        x = tl.load(A, mask=rk[None, :] < rem, other=0.0)
        y = tl.load(B, mask=rk[:, None] < rem, other=0.0)
        acc = tl.dot(x, y, acc)
        A += BK * SPLIT
        B += BK * SPLIT * sbk
    tl.atomic_add(c + rm[:, None] * scm + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


@triton.jit
def gptq(a, qw, scales, qzeros, c, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    pa = a + offs_m[:, None] * K + offs_k[None, :]
    pq = qw + (offs_k[:, None] // 8) * N + offs_n[None, :]
    shift = (offs_k % 8) * 4
    zshift = (offs_n % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K // BK):
        g = (k * BK) // GROUP
        s = tl.load(scales + g * N + offs_n)
        z = tl.load(qzeros + g * (N // 8) + offs_n // 8)
        z = (z >> zshift) & 0xF
        x = tl.load(pa, mask=offs_m[:, None] < M, other=0.0)
        q = tl.load(pq)
        w = (q >> shift[:, None]) & 0xF
        w = ((w - z[None, :]) * s[None, :]).to(x.dtype)
        acc += tl.dot(x, w)
        pa += BK
        pq += (BK // 8) * N
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], acc.to(c.dtype.element_ty), mask=offs_m[:, None] < M)


@triton.jit
def w4_interleave(a, qw, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_h = pid_n * (BN // 2) + tl.arange(0, BN // 2)
    offs_k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + offs_m[:, None] * K + (k + offs_k)[None, :], mask=offs_m[:, None] < M, other=0.0)
        q = tl.load(qw + (k + offs_k)[:, None] * (N // 2) + offs_h[None, :])
        lo = (q & 0xF).to(tl.int8) - 8
        hi = (q >> 4).to(tl.int8) - 8
        w = tl.interleave(lo, hi).to(x.dtype)
        acc += tl.dot(x, w)
    s = tl.load(scales + offs_n)
    acc *= s[None, :]
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], acc.to(c.dtype.element_ty), mask=offs_m[:, None] < M)


@triton.jit
def w8a16(a, qw, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + offs_m[:, None] * K + (k + offs_k)[None, :], mask=offs_m[:, None] < M, other=0.0)
        q = tl.load(qw + (k + offs_k)[None, :] + offs_n[:, None] * K)
        acc += tl.dot(x, q.to(x.dtype).T)
    acc *= tl.load(scales + offs_n)[None, :]
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], acc.to(c.dtype.element_ty), mask=offs_m[:, None] < M)


@triton.jit
def w8a8(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        x = tl.load(a + offs_m[:, None] * K + (k + offs_k)[None, :], mask=offs_m[:, None] < M, other=0)
        y = tl.load(b + (k + offs_k)[:, None] + offs_n[None, :] * K, mask=offs_n[None, :] < N, other=0)
        acc = tl.dot(x, y, acc)
    r = acc.to(tl.float32) * tl.load(sa + offs_m, mask=offs_m < M)[:, None] * tl.load(sb + offs_n)[None, :]
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], r.to(c.dtype.element_ty), mask=offs_m[:, None] < M)


@triton.jit
def fp8_block(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    k = tl.cdiv(K, BK)
    offs_m = (pid_m * BM + tl.arange(0, BM)) % M
    offs_n = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    pa = a + offs_m[:, None] * K + offs_k[None, :]
    pb = b + offs_n[None, :] * K + offs_k[:, None]
    psa = sa + offs_m * k
    psb = sb + (offs_n // 128) * k
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(k):
        x = tl.load(pa, mask=offs_k[None, :] < K - i * BK, other=0.0)
        y = tl.load(pb, mask=offs_k[:, None] < K - i * BK, other=0.0)
        s = tl.load(psa)
        t = tl.load(psb)
        acc += tl.dot(x, y) * s[:, None] * t[None, :]
        pa += BK
        pb += BK
        psa += 1
        psb += 1
    om = pid_m * BM + tl.arange(0, BM)
    on = pid_n * BN + tl.arange(0, BN)
    tl.store(c + om[:, None] * N + on[None, :], acc.to(c.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def lora_shrink(x, la, out, M, K, RANK: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(0)
    sk = tl.program_id(1)
    rm = pid * BM + tl.arange(0, BM)
    rn = tl.arange(0, RANK)
    rk = sk * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, RANK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT)):
        t = tl.load(x + rm[:, None] * K + (rk + k * BK * SPLIT)[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(la + rn[None, :] * K + (rk + k * BK * SPLIT)[:, None])
        acc += tl.dot(t, w)
    tl.atomic_add(out + rm[:, None] * RANK + rn[None, :], acc, mask=rm[:, None] < M)


@triton.jit
def lora_expand(x, lb, out, M, N, RANK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, RANK)
    t = tl.load(x + rm[:, None] * RANK + rk[None, :], mask=rm[:, None] < M, other=0.0).to(lb.dtype.element_ty)
    w = tl.load(lb + rn[None, :] * RANK + rk[:, None])
    acc = tl.dot(t, w)
    p = out + rm[:, None] * N + rn[None, :]
    old = tl.load(p, mask=rm[:, None] < M, other=0.0)
    tl.store(p, (acc + old).to(out.dtype.element_ty), mask=rm[:, None] < M)


@triton.jit
def swiglu_mlp(x, wg, wu, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    g = tl.zeros((BM, BN), dtype=tl.float32)
    u = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        t = tl.load(x + rm[:, None] * K + (k + rk)[None, :])
        a = tl.load(wg + rn[None, :] * K + (k + rk)[:, None])
        b = tl.load(wu + rn[None, :] * K + (k + rk)[:, None])
        g = tl.dot(t, a, g)
        u = tl.dot(t, b, u)
    r = g * tl.sigmoid(g) * u
    tl.store(out + rm[:, None] * N + rn[None, :], r.to(out.dtype.element_ty))


@triton.jit
def conv_nhwc(
    x, w, o, NB, H, W, C, OC, OH, OW, R: tl.constexpr, S: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    nb = m // (OH * OW)
    oh = (m // OW) % OH
    ow = m % OW
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for rs in range(R * S):
        r = rs // S
        s = rs % S
        ih = oh + r - 1
        iw = ow + s - 1
        inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (nb < NB)
        base = ((nb * H + ih) * W + iw) * C
        for c in range(0, C, BK):
            k = c + tl.arange(0, BK)
            xs = tl.load(x + base[:, None] + k[None, :], mask=inside[:, None], other=0.0)
            ws = tl.load(w + n[None, :] * (R * S * C) + rs * C + k[:, None])
            acc = tl.dot(xs, ws, acc)
    tl.store(o + m[:, None] * OC + n[None, :], acc.to(o.dtype.element_ty), mask=(nb < NB)[:, None])


@triton.jit
def moe(
    a,
    b,
    c,
    topw,
    sorted_ids,
    expert_ids,
    ntok,
    N,
    K,
    EM,
    valid,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    TOPK: tl.constexpr,
    MULW: tl.constexpr,
):
    pid = tl.program_id(0)
    npm = tl.cdiv(EM, BM)
    npn = tl.cdiv(N, BN)
    ing = GROUP * npn
    gid = pid // ing
    first = gid * GROUP
    gsz = min(npm - first, GROUP)
    pid_m = first + ((pid % ing) % gsz)
    pid_n = (pid % ing) // gsz
    if pid_m * BM >= tl.load(valid):
        return
    tok_id = pid_m * BM + tl.arange(0, BM).to(tl.int64)
    tok = tl.load(sorted_ids + tok_id)
    mask = tok < ntok
    e = tl.load(expert_ids + pid_m).to(tl.int64)
    bn = (pid_n * BN + tl.arange(0, BN).to(tl.int64)) % N
    rk = tl.arange(0, BK)
    pa = a + (tok[:, None] // TOPK * K + rk[None, :])
    pb = b + e * N * K + (rk[:, None] + bn[None, :] * K)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=mask[:, None] & (rk[None, :] < K - k * BK), other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(x, y)
        pa += BK
        pb += BK
    if MULW:
        acc = acc * tl.load(topw + tok, mask=mask, other=0)[:, None]
    cn = pid_n * BN + tl.arange(0, BN)
    tl.store(c + tok[:, None] * N + cn[None, :], acc.to(c.dtype.element_ty), mask=mask[:, None] & (cn[None, :] < N))


@triton.jit
def grouped(pa, pb, pc, sizes, lds, n_groups, NUM_SM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(n_groups):
        gm = tl.load(sizes + g * 3)
        gn = tl.load(sizes + g * 3 + 1)
        gk = tl.load(sizes + g * 3 + 2)
        tm, tn = tl.cdiv(gm, BM), tl.cdiv(gn, BN)
        num = tm * tn
        while tile >= last and tile < last + num:
            lda, ldb, ldc = tl.load(lds + g * 3), tl.load(lds + g * 3 + 1), tl.load(lds + g * 3 + 2)
            a = tl.load(pa + g).to(tl.pointer_type(tl.float16))
            b = tl.load(pb + g).to(tl.pointer_type(tl.float16))
            c = tl.load(pc + g).to(tl.pointer_type(tl.float16))
            t = tile - last
            om = (t // tn) * BM + tl.arange(0, BM)
            on = (t % tn) * BN + tl.arange(0, BN)
            ok = tl.arange(0, BK)
            xa = a + om[:, None] * lda + ok[None, :]
            xb = b + ok[:, None] * ldb + on[None, :]
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for kk in range(0, tl.cdiv(gk, BK)):
                tl.multiple_of(xa, [16, 16])
                tl.multiple_of(xb, [16, 16])
                acc += tl.dot(tl.load(xa), tl.load(xb))
                xa += BK
                xb += BK * ldb
            tl.store(c + om[:, None] * ldc + on[None, :], acc.to(tl.float16))
            tile += NUM_SM
        last = last + num


@triton.jit
def bmm_desc(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    z = tl.program_id(2).to(tl.int64)
    A = tl.make_block_ptr(a + z * M * K, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    B = tl.make_block_ptr(b + z * K * N, (K, N), (N, 1), (0, tl.program_id(1) * BN), (BK, BN), (1, 0))
    C = tl.make_block_ptr(c + z * M * N, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(
            tl.load(A, boundary_check=(0, 1), padding_option="zero"),
            tl.load(B, boundary_check=(0, 1), padding_option="zero"),
            acc,
        )
        A = tl.advance(A, (0, BK))
        B = tl.advance(B, (BK, 0))
    tl.store(C, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def mm_ln(x, w, g, b, o, M, K, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, N), dtype=tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(x + rm[:, None] * K + (k + rk)[None, :]), tl.load(w + (k + rk)[:, None] * N + rn[None, :]))
    mean = tl.sum(acc, 1) / N
    d = acc - mean[:, None]
    var = tl.sum(d * d, 1) / N
    y = d * tl.rsqrt(var + 1e-5)[:, None] * tl.load(g + rn)[None, :] + tl.load(b + rn)[None, :]
    tl.store(o + rm[:, None] * N + rn[None, :], y.to(o.dtype.element_ty))


@triton.jit
def dw_bias(x, dy, dw, db, M, N, K, BN: tl.constexpr, BK: tl.constexpr, BM: tl.constexpr):
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.program_id(1) * BK + tl.arange(0, BK)
    acc = tl.zeros((BN, BK), dtype=tl.float32)
    bias = tl.zeros((BN,), dtype=tl.float32)
    for m in range(0, M, BM):
        rm = m + tl.arange(0, BM)
        y = tl.load(dy + rm[:, None] * N + rn[None, :], mask=rm[:, None] < M, other=0.0)
        t = tl.load(x + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        acc += tl.dot(tl.trans(y), t)
        bias += tl.sum(y.to(tl.float32), 0)
    tl.store(dw + rn[:, None] * K + rk[None, :], acc.to(dw.dtype.element_ty))
    if tl.program_id(1) == 0:
        tl.store(db + rn, bias)
