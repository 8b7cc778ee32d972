"""Products in branches and in loops whose sums go on, as Triton's users write them."""

import tilery.tileon as triton
import tilery.tileon.language as tl


@triton.jit
def chosen(a, b, c, flags, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b in the rows of tiles whose flag is not 0, else 0."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    if tl.load(flags + tl.program_id(0)) != 0:
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
            y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def resumed(a, b, c, flags, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c += a b, twice where the flag of the row of tiles is 2."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    here = (rm[:, None] < M) & (rn[None, :] < N)
    acc = tl.load(c + rm[:, None] * N + rn[None, :], mask=here, other=0.0)
    for _ in range(tl.load(flags + tl.program_id(0))):
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
            y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=here)


@triton.jit
def normalised(a, b, c, flags, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = softmax(a b) of rows of at most BN, in persistent programs; rows of a tile whose flag is 0 are divided by 2."""
    rn = tl.arange(0, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM), tl.num_programs(0)):
        rm = tile * BM + tl.arange(0, BM)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
            y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(x, y, acc)
        acc = tl.where(rn[None, :] < N, acc, float("-inf"))
        p = tl.exp(acc - tl.max(acc, 1)[:, None])
        p = p / tl.sum(p, 1)[:, None]
        if tl.load(flags + tile) == 0:
            p *= 0.5
        tl.store(c + rm[:, None] * N + rn[None, :], p, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def convolved(x, w, y, H, W, C, F, R: tl.constexpr, S: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Channels last, without padding: y[p, q, f] = sum over r, s, c of x[p + r, q + s, c] w[r, s, c, f]."""
    P, Q = H - R + 1, W - S + 1
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for tap in range(R * S):
        row, column = rm // Q + tap // S, rm % Q + tap % S
        for c in range(0, C, BK):
            rk = c + tl.arange(0, BK)
            u = tl.load(
                x + (row * W + column)[:, None] * C + rk[None, :], mask=(rm < P * Q)[:, None] & (rk < C)[None, :], other=0.0
            )
            v = tl.load(w + (tap * C + rk)[:, None] * F + rn[None, :], mask=(rk < C)[:, None] & (rn < F)[None, :], other=0.0)
            acc = tl.dot(u, v, acc)
    tl.store(y + rm[:, None] * F + rn[None, :], acc.to(y.dtype.element_ty), mask=(rm < P * Q)[:, None] & (rn < F)[None, :])
