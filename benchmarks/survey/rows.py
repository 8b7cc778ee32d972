"""Rows, columns, scans, places, updates, quantisation, pointwise work."""

import torch
from survey.cases import case, ceiling, f32


@case((32, 32), (64, 64), (128, 16))
def softmax_cols(e, BN, BM):
    M, N = (70, 90) if e.small else (4096, 8192)
    x, o = e.rn(M, N), e.out(M, N)
    return (lambda: e.R.softmax_cols[(ceiling(N, BN),)](x, o, M, N, BN, BM)), [o]


@case((4096, 4), (8192, 8), (1000, 4), (128, 1))
def fused_add_rms(e, N, w):
    M = 5 if e.small else 8192
    x, r0, wt, o = e.rn(M, N), e.rn(M, N), e.rn(N), e.out(M, N)
    r = r0.clone()
    B = 1 << (N - 1).bit_length()
    return (lambda: e.R.fused_add_rms[(M,)](x, r, wt, o, N, 1e-6, B, num_warps=w)), [o]


@case((4096, 1024, 4), (12288, 2048, 8), (5000, 1024, 4))
def layernorm_loop(e, N, B, w):
    M = 5 if e.small else 4096
    x, wt, b, o = e.rn(M, N), e.rn(N, dtype=f32), e.rn(N, dtype=f32), e.out(M, N)
    return (lambda: e.R.layernorm_loop[(M,)](x, o, wt, b, N, 1e-5, B, num_warps=w)), [o]


@case((16, 64), (8, 128), (32, 64))
def groupnorm_nhwc(e, CG, B):
    N, HW, C = (2, 100, CG * 2) if e.small else (16, 64 * 64, CG * 32)
    x, w, b, o = e.rn(N, HW, C), e.rn(C, dtype=f32), e.rn(C, dtype=f32), e.out(N, HW, C)
    return (lambda: e.R.groupnorm_nhwc[(N, C // CG)](x, o, w, b, HW, C, 1e-5, CG, B)), [o]


@case((1024,), (4096,))
def bn_stats(e, B):
    N, C, HW = (3, 4, 130) if e.small else (32, 256, 56 * 56)
    x, m, v = e.rn(N, C, HW), e.out(C, dtype=f32), e.out(C, dtype=f32)
    return (lambda: e.R.bn_stats[(C,)](x, m, v, N, C, HW, B)), [m, v]


@case((128,), (64,))
def rope(e, D):
    T, H = (4, 2) if e.small else (4096, 32)
    q0, c, s = e.rn(T, H, D), e.rn(T, D // 2, dtype=f32), e.rn(T, D // 2, dtype=f32)
    q = q0.clone()

    def go():
        e.R.rope[(T, H)](q, c, s, T, H, D, num_warps=1)

    return go, []


@case((32, 128), (8, 64))
def rope_pairs(e, H, D):
    T = 4 if e.small else 8192
    q, c, s, o = e.rn(T, H, D), e.rn(T, D // 2, dtype=f32), e.rn(T, D // 2, dtype=f32), e.out(T, H, D)
    return (lambda: e.R.rope_pairs[(T,)](q, c, s, o, T, H, D)), [o]


@case((11008, 1024), (14336, 512), (5000, 2048))
def silu_mul(e, D, B):
    M = 3 if e.small else 4096
    x, o = e.rn(M, 2 * D), e.out(M, D)
    return (lambda: e.R.silu_mul[(M, ceiling(D, B))](x, o, D, B)), [o]


@case((1024,), (512,))
def adamw(e, B):
    n = 3000 if e.small else 1 << 26
    p, g, m, v = e.rn(n), e.rn(n), e.rn(n, dtype=f32), e.rn(n, dtype=f32).abs()
    return (lambda: e.R.adamw[(ceiling(n, B),)](p, g, m, v, n, 1e-3, 0.9, 0.999, 1e-8, 0.01, 0.1, 0.001, B)), []


@case((1024,), (4096,))
def dropout(e, B):
    n = 3000 if e.small else 1 << 26
    x, o = e.rn(n), e.out(n)
    return (lambda: e.R.dropout[(ceiling(n, B),)](x, o, n, 0.3, 123, B)), [o]


@case((1, 1024, 4), (4, 256, 4), (16, 64, 4), (1, 4096, 8))
def cumsum_rows(e, BM, BN, w):
    M, N = (7, 3000) if e.small else (4096, 8192)
    x, o = e.rn(M, N, dtype=f32), e.out(M, N, dtype=f32)
    return (lambda: e.R.cumsum_rows[(ceiling(M, BM),)](x, o, M, N, BM, BN, num_warps=w)), [o]


@case((64, 64, 4), (128, 32, 4), (16, 128, 4))
def cumsum_cols(e, BT, BD, w):
    B, T, D = (2, 2 * BT, BD) if e.small else (32, 4096, 512)
    x, o = e.rn(B, T, D, dtype=f32), e.out(B, T, D, dtype=f32)
    return (lambda: e.R.cumsum_cols[(D // BD, B)](x, o, T, D, BT, BD, num_warps=w)), [o]


@case((64, 32, 4), (32, 64, 4), (128, 16, 4))
def gated_scan(e, BT, BD, w):
    B, T, D = (2, 2 * BT, BD) if e.small else (16, 2048, 1024)
    a, x, o = torch.sigmoid(e.rn(B, T, D, dtype=f32)), e.rn(B, T, D, dtype=f32), e.out(B, T, D, dtype=f32)
    return (lambda: e.R.gated_scan[(D // BD, B)](a, x, o, T, D, BT, BD, num_warps=w)), [o]


@case((64, 1), (128, 4), (32, 1))
def rnn_scan(e, BD, w):
    B, T, D = (2, 20, BD) if e.small else (16, 2048, 1024)
    a, x, o = torch.sigmoid(e.rn(B, T, D, dtype=f32)), e.rn(B, T, D, dtype=f32), e.out(B, T, D, dtype=f32)
    return (lambda: e.R.rnn_scan[(D // BD, B)](a, x, o, T, D, BD, num_warps=w)), [o]


@case((16, 32, 1), (16, 64, 4), (64, 8, 2))
def mamba_scan(e, S, BD, w):
    B, T, D = (1, 10, BD) if e.small else (8, 512, 2048)
    u, dt, A, Bm, C, o = e.rn(B, T, D), e.rn(B, T, D), -e.rn(D, S, dtype=f32).abs(), e.rn(B, T, S), e.rn(B, T, S), e.out(B, T, D)
    return (lambda: e.R.mamba_scan[(D // BD, B)](u, dt, A, Bm, C, o, T, D, S, BD, num_warps=w)), [o]


@case((64, 64), (16, 128), (128, 32))
def causal_conv1d(e, BT, BD):
    B, T, D = (2, 100, BD) if e.small else (8, 4096, 2048)
    x, w, o = e.rn(B, T, D), e.rn(D, 4, dtype=f32), e.out(B, T, D)
    return (lambda: e.R.causal_conv1d[(ceiling(T, BT), D // BD, B)](x, w, o, T, D, 4, BT, BD)), [o]


@case((1024, 4), (4096, 8))
def argmax_rows(e, B, w):
    M, N = (4, 5000) if e.small else (1024, 128000)
    x, o = e.rn(M, N, dtype=f32), e.out(M, dtype=torch.int32)
    return (lambda: e.R.argmax_rows[(M,)](x, o, N, B, num_warps=w)), [o]


@case((64, 8, 16), (256, 8, 4), (128, 2, 1))
def topk_softmax(e, N, K, BM):
    M = 37 if e.small else 16384
    x, v, i = e.rn(M, N, dtype=f32), e.out(M, K, dtype=f32), e.out(M, K, dtype=torch.int32)
    return (lambda: e.R.topk_softmax[(ceiling(M, BM),)](x, v, i, N, K, BM, M)), [v, i]


@case((256,), (1024,), (4096,))
def sort_rows(e, N):
    M = 3 if e.small else 8192
    x, o = e.rn(M, N, dtype=f32), e.out(M, N, dtype=f32)
    return (lambda: e.R.sort_rows[(M,)](x, o, N)), [o]


@case((256, 1024), (16, 4096))
def histo(e, bins, B):
    n = 3000 if e.small else 1 << 24
    x, o = e.ri(0, bins, (n,)), e.zeros(bins, dtype=torch.int32)

    def go():
        o.zero_()
        e.R.histo[(ceiling(n, B),)](x, o, n, bins, B)

    return go, []  # lanes that do not exist count as well


@case((256,), (128,))
def embed_bag(e, B):
    NB, L, V, D = (3, 5, 50, 300) if e.small else (4096, 32, 100000, 512)
    i, w, o = e.ri(0, V, (NB, L)), e.rn(V, D), e.out(NB, D)
    return (lambda: e.R.embed_bag[(NB, ceiling(D, B))](i, w, o, L, D, B)), [o]


@case((1, 512), (8, 128), (32, 64))
def scatter_add(e, BR, B):
    n, V, D = (50, 20, B) if e.small else (32768, 30000, 512)
    i, g, w = e.ri(0, V, (n,)), e.rn(n, D), e.zeros(V, D)

    def go():
        w.zero_()
        e.R.scatter_add[(ceiling(n, BR), D // B)](i, g, w, n, D, BR, B)

    return go, [w]


@case((64, 64), (32, 32), (128, 32), (16, 256))
def transpose(e, BM, BN):
    M, N = (150, 300) if e.small else (8192, 8000)
    x, o = e.rn(M, N), e.out(N, M)
    return (lambda: e.R.transpose[(ceiling(M, BM), ceiling(N, BN))](x, o, M, N, BM, BN)), [o]


@case((1024, 64), (512, 128), (1024, 1))
def permute_flat(e, B, D):
    A, Bb, C = (2, 5, 7) if e.small else (8, 32, 4096 * 64 // D // (1 if D > 1 else 16))
    n = A * Bb * C * D
    x, o = e.rn(n), e.out(n)
    return (lambda: e.R.permute_flat[(ceiling(n, B),)](x, o, n, A, Bb, C, D, B)), [o]


@case((32, 128), (64, 64), (128, 16), (1, 1024))
def colsum(e, BM, BN):
    M, N = (150, 300) if e.small else (16384, 4096)
    x, o = e.rn(M, N), e.zeros(N)

    def go():
        o.zero_()
        e.R.colsum[(ceiling(N, BN), 16)](x, o, M, N, BM, BN)

    return go, [o]


@case((4096, 8), (1024, 4), (5000, 8))
def token_quant(e, N, w):
    M = 3 if e.small else 8192
    x, q, s = e.rn(M, N), e.out(M, N, dtype=torch.int8), e.out(M, dtype=f32)
    return (lambda: e.R.token_quant[(M,)](x, q, s, N, 1 << (N - 1).bit_length(), num_warps=w)), [q, s]


@case((128, 1), (128, 4))
def group_quant_fp8(e, B, w):
    n = 10 if e.small else 8192 * 32
    x, q, s = e.rn(n, B), torch.zeros(n, B, device=e.device).to(torch.float8_e4m3fn), e.out(n, dtype=f32)
    return (lambda: e.R.group_quant_fp8[(n,)](x, q, s, B, 1e-10, B, num_warps=w)), [q, s]


@case((32000, 4096, 8), (128256, 8192, 16), (32000, 32768, 32))
def cross_entropy(e, N, B, w):
    M = 3 if e.small else 2048
    if e.small:
        N = N // 10
    x0, y, loss = e.rn(M, N), e.ri(0, N, (M,)), e.out(M, dtype=f32)
    x = x0.clone()
    return (lambda: e.R.cross_entropy[(M,)](x, y, loss, N, 0.0, 0.1, B, num_warps=w)), []


@case((32, 64), (64, 32))
def maxpool_nhwc(e, B, BC):
    NB, H, C = (1, 9, BC) if e.small else (32, 112, 64)
    OH = (H + 1) // 2
    x, o = e.rn(NB, H, H, C), e.out(NB, OH, OH, C)
    return (lambda: e.R.maxpool_nhwc[(ceiling(OH * OH, B), C // BC, NB)](x, o, H, H, C, OH, OH, B, BC)), [o]


@case((512,), (1024,))
def bilinear(e, B):
    C, H, OH = (3, 7, 13) if e.small else (16 * 64, 64, 128)
    x, o = e.rn(C, H, H), e.out(C, OH, OH)
    return (lambda: e.R.bilinear[(ceiling(o.numel(), B),)](x, o, C, H, H, OH, OH, H / OH, H / OH, o.numel(), B)), [o]


@case((32, 64), (16, 128))
def jagged_mean(e, BL, BD):
    NB, D = (4, 100) if e.small else (1024, 512)
    lens = e.ri(0, 300 if not e.small else 40, (NB,)).cpu()
    offs = torch.tensor([0] + lens.cumsum(0).tolist(), dtype=torch.int32)
    x, o = e.rn(int(offs[-1]), D), e.out(NB, D, dtype=f32)
    offs = offs.to(e.device)
    return (lambda: e.R.jagged_mean[(NB, ceiling(D, BD))](x, offs, o, D, BL, BD)), [o]


@case((4096, 16, 8), (1000, 64, 4), (8192, 8, 16))
def ln_bwd(e, N, ROWS, w):
    M = 2 * ROWS if e.small else 8192
    x, dy, wt = e.rn(M, N), e.rn(M, N), e.rn(N, dtype=f32)
    mean, rstd = x.float().mean(1), 1 / x.float().std(1)
    dx, dw, db = e.out(M, N), e.out(M // ROWS, N, dtype=f32), e.out(M // ROWS, N, dtype=f32)
    return (
        lambda: e.R.ln_bwd[(M // ROWS,)](dx, dy, dw, db, x, wt, mean, rstd, N, ROWS, 1 << (N - 1).bit_length(), num_warps=w)
    ), [dx, dw, db]


@case((1024,), (256,))
def where_chain(e, B):
    n = 3000 if e.small else 1 << 25
    x, y, z, o = e.rn(n), e.rn(n), e.rn(n), e.out(n)
    return (lambda: e.R.where_chain[(ceiling(n, B),)](x, y, z, o, n, B)), [o]
