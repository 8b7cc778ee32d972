"""Products: plain, split, packed and quantised factors, experts, groups, convolutions."""

import torch
from survey.cases import bf, case, ceiling, f32, hf


def mm_case(e, M, N, K, BM, BN, BK, w, dtype=bf, ta=False, tb=False, act=0, stages=3):
    if e.small:
        M, N, K = min(M, 2 * BM + 3), min(N, 2 * BN), min(K, 2 * BK)
    a = e.rn(K, M, dtype=dtype).T if ta else e.rn(M, K, dtype=dtype)
    b = e.rn(N, K, dtype=dtype).T if tb else e.rn(K, N, dtype=dtype)
    c = e.out(M, N, dtype=dtype)
    return (
        lambda: e.P.mm[(ceiling(M, BM), ceiling(N, BN))](
            a,
            b,
            c,
            M,
            N,
            K,
            a.stride(0),
            a.stride(1),
            b.stride(0),
            b.stride(1),
            c.stride(0),
            c.stride(1),
            BM,
            BN,
            BK,
            act,
            num_warps=w,
            num_stages=stages,
        )
    ), [c]


@case(
    (4096, 4096, 4096, 128, 128, 64, 8),
    (4096, 4096, 4096, 128, 256, 64, 8),
    (4096, 4096, 4096, 64, 64, 32, 4),
    (2048, 2048, 2048, 32, 64, 64, 4),
    (16, 8192, 8192, 16, 64, 128, 4),
    (64, 8192, 8192, 64, 64, 64, 4),
    (3000, 4000, 1000, 128, 128, 32, 4),
    (256, 256, 16384, 64, 64, 64, 4),
)
def matmul(e, *a):
    return mm_case(e, *a)


@case((128, 128, 64, 8), (128, 128, 32, 4))
def matmul_tn(e, *a):
    return mm_case(e, 4096, 4096, 4096, *a, ta=True)


@case((128, 128, 64, 8), (64, 128, 64, 4))
def matmul_nt_gelu(e, *a):
    return mm_case(e, 4096, 4096, 4096, *a, tb=True, act=1)


@case((128, 128, 32, 8), (64, 64, 32, 4))
def matmul_f32(e, *a):
    return mm_case(e, 2048, 2048, 2048, *a, dtype=f32)


@case((128, 128, 64, 4, 4), (64, 64, 64, 8, 4), (16, 32, 128, 16, 2))
def split_k(e, BM, BN, BK, S, w):
    M, N, K = (BM * 2, BN * 2, BK * S * 2) if e.small else (BM * 2 - 5, 4096, 8192)
    a, b, c = e.rn(M, K, dtype=hf), e.rn(K, N, dtype=hf), e.zeros(M, N)

    def go():
        c.zero_()
        e.P.splitk[(ceiling(M, BM) * ceiling(N, BN), S)](a, b, c, M, N, K, K, N, N, BM, BN, BK, S, num_warps=w)

    return go, [c]


@case((16, 64, 64, 4), (64, 128, 64, 4), (128, 128, 64, 8), (32, 64, 128, 4))
def gptq(e, BM, BN, BK, w):
    M, N, K, G = (BM, 2 * BN, 256, 128) if e.small else ({16: 16, 32: 32, 64: 512, 128: 2048}[BM], 8192, 4096, 128)
    a, qw, s, z, c = (
        e.rn(M, K, dtype=hf),
        e.ri(-(2**31), 2**31, (K // 8, N)),
        e.rn(K // G, N, dtype=hf).abs() * 0.1,
        e.ri(-(2**31), 2**31, (K // G, N // 8)),
        e.out(M, N, dtype=hf),
    )
    return (lambda: e.P.gptq[(ceiling(M, BM), ceiling(N, BN))](a, qw, s, z, c, M, N, K, G, BM, BN, BK, num_warps=w)), [c]


@case((16, 64, 64, 4), (64, 128, 64, 4), (128, 128, 64, 8))
def w4_interleave(e, BM, BN, BK, w):
    M, N, K = (BM, 2 * BN, 256) if e.small else ({16: 16, 64: 512, 128: 2048}[BM], 8192, 4096)
    a, qw, s, c = e.rn(M, K), e.ri(0, 256, (K, N // 2), torch.uint8), e.rn(N, dtype=f32), e.out(M, N)
    return (lambda: e.P.w4_interleave[(ceiling(M, BM), ceiling(N, BN))](a, qw, s, c, M, N, K, BM, BN, BK, num_warps=w)), [c]


@case((16, 64, 128, 4), (128, 128, 64, 8), (64, 128, 64, 4))
def w8a16(e, BM, BN, BK, w):
    M, N, K = (BM, 2 * BN, 256) if e.small else ({16: 16, 64: 512, 128: 2048}[BM], 8192, 4096)
    a, qw, s, c = e.rn(M, K), e.ri(-127, 128, (N, K), torch.int8), e.rn(N, dtype=f32), e.out(M, N)
    return (lambda: e.P.w8a16[(ceiling(M, BM), ceiling(N, BN))](a, qw, s, c, M, N, K, BM, BN, BK, num_warps=w)), [c]


@case((128, 128, 64, 8), (64, 64, 128, 4), (16, 64, 256, 4))
def w8a8(e, BM, BN, BK, w):
    M, N, K = (BM, 2 * BN, 512) if e.small else ({16: 16, 64: 500, 128: 4096}[BM], 4096, 4096)
    a, b, sa, sb, c = (
        e.ri(-127, 128, (M, K), torch.int8),
        e.ri(-127, 128, (N, K), torch.int8),
        e.rn(M, dtype=f32),
        e.rn(N, dtype=f32),
        e.out(M, N),
    )
    return (lambda: e.P.w8a8[(ceiling(M, BM), ceiling(N, BN))](a, b, sa, sb, c, M, N, K, BM, BN, BK, num_warps=w)), [c]


@case((128, 128, 128, 8), (64, 128, 128, 4), (16, 64, 128, 4), (32, 128, 128, 4))
def fp8_block(e, BM, BN, BK, w):
    M, N, K = (BM + 3, 256, 256) if e.small else ({16: 16, 32: 100, 64: 1024, 128: 4096}[BM], 4096, 7168)
    a, b = e.rn(M, K).to(torch.float8_e4m3fn), e.rn(N, K).to(torch.float8_e4m3fn)
    sa, sb, c = e.rn(M, K // 128, dtype=f32).abs(), e.rn(N // 128, K // 128, dtype=f32).abs(), e.out(M, N)
    return (
        lambda: e.P.fp8_block[(ceiling(M, BM), ceiling(N, BN))](a, b, sa, sb, c, M, N, K, BM, BN, BK, num_warps=w, num_stages=3)
    ), [c]


@case((16, 16, 256, 8), (64, 64, 64, 4), (16, 32, 128, 1))
def lora_shrink(e, R, BM, BK, S):
    M, K = (BM * 2 - 3, BK * S * 2) if e.small else (4096 - 3, 4096)
    x, a, o = e.rn(M, K), e.rn(R, K), e.zeros(M, R)

    def go():
        o.zero_()
        e.P.lora_shrink[(ceiling(M, BM), S)](x, a, o, M, K, R, BM, BK, S)

    return go, [o]


@case((16, 64, 128), (64, 64, 64))
def lora_expand(e, R, BM, BN):
    M, N = (BM * 2 - 3, BN * 2) if e.small else (4096 - 3, 4096)
    x, b, o, o0 = e.rn(M, R, dtype=f32), e.rn(N, R), e.out(M, N), e.rn(M, N)
    o.copy_(o0)
    return (lambda: e.P.lora_expand[(ceiling(M, BM), ceiling(N, BN))](x, b, o, M, N, R, BM, BN)), [o]


@case((128, 64, 64, 8), (128, 128, 64, 8), (64, 64, 64, 4))
def swiglu_mlp(e, BM, BN, BK, w):
    M, N, K = (BM * 2, BN * 2, BK * 2) if e.small else (4096, 4096, 4096)
    x, g, u, o = e.rn(M, K), e.rn(N, K), e.rn(N, K), e.out(M, N)
    return (lambda: e.P.swiglu_mlp[(ceiling(M, BM), ceiling(N, BN))](x, g, u, o, M, N, K, BM, BN, BK, num_warps=w)), [o]


@case((128, 128, 64, 8), (64, 64, 32, 4))
def conv_nhwc(e, BM, BN, BK, w):
    NB, H, C, OC = (1, 9, BK, BN) if e.small else (32, 56, 128, 256)
    x, k, o = e.rn(NB, H, H, C, dtype=hf), e.rn(OC, 3, 3, C, dtype=hf), e.out(NB, H, H, OC, dtype=hf)
    return (
        lambda: e.P.conv_nhwc[(ceiling(NB * H * H, BM), OC // BN)](x, k, o, NB, H, H, C, OC, H, H, 3, 3, BM, BN, BK, num_warps=w)
    ), [o]


@case((64, 128, 64, 4), (128, 128, 64, 8), (16, 64, 128, 4))
def moe(e, BM, BN, BK, w):
    E, T, TOPK, N, K = (4, 40, 2, 2 * BN, 2 * BK) if e.small else (64, 4096 if BM > 16 else 64, 2, 2048, 2048)
    ids = e.ri(0, E, (T, TOPK)).cpu()
    flat, order, experts = ids.flatten(), [], []
    for x in range(E):
        at = (flat == x).nonzero().flatten().tolist()
        at += [T * TOPK] * (-len(at) % BM)
        order += at
        experts += [x] * (len(at) // BM)
    EM = len(order)
    sid, eid = torch.tensor(order, dtype=torch.int32).to(e.device), torch.tensor(experts, dtype=torch.int32).to(e.device)
    a, b, c, tw, val = (
        e.rn(T, K),
        e.rn(E, N, K),
        e.out(T * TOPK, N),
        e.rn(T * TOPK, dtype=f32),
        torch.tensor([EM], dtype=torch.int32).to(e.device),
    )
    return (
        lambda: e.P.moe[(ceiling(EM, BM) * ceiling(N, BN),)](
            a, b, c, tw, sid, eid, T * TOPK, N, K, EM, val, BM, BN, BK, 8, TOPK, True, num_warps=w
        )
    ), [c]


@case((128, 128, 32, 4), (64, 64, 64, 4))
def grouped(e, BM, BN, BK, w):
    if e.device == "cpu":
        shapes = [(BM, BN, BK * 2)]
    else:
        shapes = [(1024, 1024, 1024), (2048, 512, 512), (256, 2048, 4096), (4096, 1024, 256)]
    As, Bs, Cs = (
        [e.rn(m, k, dtype=hf) for m, n, k in shapes],
        [e.rn(k, n, dtype=hf) for m, n, k in shapes],
        [e.out(m, n, dtype=hf) for m, n, k in shapes],
    )
    ptr = lambda ts: torch.tensor([t.data_ptr() for t in ts], dtype=torch.int64, device=e.device)
    pa, pb, pc = ptr(As), ptr(Bs), ptr(Cs)
    sz = torch.tensor(shapes, dtype=torch.int32, device=e.device).flatten()
    ld = torch.tensor([(k, n, n) for m, n, k in shapes], dtype=torch.int32, device=e.device).flatten()
    keep = (As, Bs)
    return (
        lambda: (
            e.P.grouped[(132 if e.device != "cpu" else 2,)](
                pa, pb, pc, sz, ld, len(shapes), 132 if e.device != "cpu" else 2, BM, BN, BK, num_warps=w
            ),
            keep,
        )[0]
    ), Cs


@case((64, 64, 32, 4), (128, 128, 64, 8))
def bmm(e, BM, BN, BK, w):
    Z, M, N, K = (2, BM - 3, BN + 5, BK * 2) if e.small else (64, 1024, 1024, 512)
    a, b, c = e.rn(Z, M, K), e.rn(Z, K, N), e.out(Z, M, N)
    return (lambda: e.P.bmm_desc[(ceiling(M, BM), ceiling(N, BN), Z)](a, b, c, M, N, K, BM, BN, BK, num_warps=w)), [c]


@case((16, 256, 64, 4), (64, 256, 64, 8), (32, 512, 32, 8))
def mm_ln(e, BM, N, BK, w):
    M, K = (BM * 2, BK * 2) if e.small else (8192, 1024)
    x, k, g, b, o = e.rn(M, K), e.rn(K, N), e.rn(N, dtype=f32), e.rn(N, dtype=f32), e.out(M, N)
    return (lambda: e.P.mm_ln[(M // BM,)](x, k, g, b, o, M, K, N, BM, BK, num_warps=w)), [o]


@case((128, 128, 64, 8), (64, 64, 64, 4))
def dw_bias(e, BN, BK, BM, w):
    M, N, K = (BM * 2 - 3, BN * 2, BK * 2) if e.small else (8192 - 3, 2048, 2048)
    x, dy, dw, db = e.rn(M, K), e.rn(M, N), e.out(N, K), e.out(N, dtype=f32)
    return (lambda: e.P.dw_bias[(N // BN, K // BK)](x, dy, dw, db, M, N, K, BN, BK, BM, num_warps=w)), [dw, db]
