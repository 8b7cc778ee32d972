"""Attention: forward, decode, a window, a bias, linear, backward."""

import torch
from survey.cases import case, ceiling, f32, hf


@case((64, 128, 64, True, 4), (128, 128, 64, True, 8), (128, 64, 64, False, 4), (64, 64, 32, True, 4))
def varlen(e, D, BM, BN, causal, w):
    lens = [40, 70] if e.small else [1000, 2048, 517, 4096, 333, 2000, 1500, 900]
    H, KVH = (2, 1) if e.small else (16, 4)
    cu = torch.tensor([0] + list(torch.tensor(lens).cumsum(0)), dtype=torch.int32).to(e.device)
    T = sum(lens)
    q, k, v, o = e.rn(T, H, D), e.rn(T, KVH, D), e.rn(T, KVH, D), e.out(T, H, D)
    return (
        lambda: e.A.varlen[(ceiling(max(lens), BM), H, len(lens))](
            q, k, v, o, cu, D**-0.5, H, KVH, D, BM, BN, causal, num_warps=w
        )
    ), [o]


@case((64, 64, 64, 4), (128, 128, 64, 8))
def window_cap(e, D, BM, BN, w):
    T, H, W = (150, 1, 70) if e.small else (8192, 16, 1024)
    q, k, v, o = (e.rn(H, T, D) for _ in range(4))
    return (lambda: e.A.window_cap[(ceiling(T, BM), H)](q, k, v, o, D**-0.5, 30.0, W, T, H, D, BM, BN, num_warps=w)), [o]


@case((64, 128, 64, 4), (32, 64, 64, 4), (128, 128, 32, 8))
def alibi_bias(e, D, BM, BN, w):
    T, H = (2 * BM, 1) if e.small else (2048, 16)
    q, k, v, o = (e.rn(H, T, D, dtype=hf) for _ in range(4))
    bias = e.rn(H, T, T, dtype=hf)
    return (lambda: e.A.alibi_bias[(T // BM, H)](q, k, v, bias, o, D**-0.5, T, H, D, BM, BN, num_warps=w)), [o]


@case((128, 16, 8, 4), (128, 64, 4, 4), (64, 32, 8, 4))
def decode_paged(e, D, PAGE, G, w):
    B, KVH, L, S = (2, 1, 100, 2) if e.small else (32, 8, 4096, 8)
    maxp = ceiling(L, PAGE)
    table = torch.randperm(B * maxp).to(torch.int32).view(B, maxp).to(e.device)
    kc, vc = e.rn(B * maxp, PAGE, KVH, D), e.rn(B * maxp, PAGE, KVH, D)
    lens = torch.tensor([L - 7 * i for i in range(B)], dtype=torch.int32).to(e.device)
    q, mid = e.rn(B, KVH * G, D), e.out(B, KVH * G, S, D + 1, dtype=f32)
    return (
        lambda: e.A.decode_split[(B, KVH, S)](
            q, kc, vc, table, lens, mid, D**-0.5, KVH * G, G, D, PAGE, S, KVH, maxp, 16, num_warps=w
        )
    ), [mid]


@case((8, 128), (32, 64))
def decode_merge(e, S, D):
    R = 5 if e.small else 8192
    mid, o = e.rn(R, S, D + 1, dtype=f32), e.out(R, D)
    return (lambda: e.A.decode_merge[(R,)](mid, o, S, D)), [o]


@case((128, 64, 4), (64, 128, 4))
def decode_vec(e, D, BN, w):
    B, H, T = (1, 2, 150) if e.small else (16, 32, 2048)
    q, k, v, o = e.rn(B, H, D), e.rn(B, H, T, D), e.rn(B, H, T, D), e.out(B, H, D)
    return (lambda: e.A.decode_vec[(B, H)](q, k, v, o, D**-0.5, T, H, D, BN, num_warps=w)), [o]


@case((64, 64, 64, 4), (128, 64, 64, 4), (128, 64, 128, 8), (64, 32, 32, 2))
def linear_attn(e, D, BT, BV, w):
    T, H = (2 * BT, 1) if e.small else (2048, 64)
    q, k, v, o = e.rn(H, T, D) * 0.1, e.rn(H, T, D) * 0.1, e.rn(H, T, D), e.out(H, T, D)
    return (lambda: e.A.linear_attn[(D // BV, H)](q, k, v, o, T, D, BT, BV, num_warps=w)), [o]


@case((64, 64, 64, 4), (128, 64, 64, 8), (64, 32, 128, 8))
def attn_bwd(e, D, BM, BN, w):
    T, H = (2 * max(BM, BN), 1) if e.small else (4096, 16)
    q, k, v, do = (e.rn(H, T, D) for _ in range(4))
    lse, de, dk, dv = e.rn(H, T, dtype=f32) + 8, e.rn(H, T, dtype=f32), e.out(H, T, D), e.out(H, T, D)
    return (lambda: e.A.bwd_dkdv[(T // BN, H)](q, k, v, do, lse, de, dk, dv, D**-0.5, T, D, BM, BN, num_warps=w)), [dk, dv]
