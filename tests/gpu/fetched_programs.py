"""Products with an operand that is no box: threads fetch it. Tiles divide the sizes, but where the name says otherwise."""

from tilery import tilelang, tileon
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def product(A, B, C, EXTRA, M, N, K, KIND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = f(A) @ g(B) where KIND says what is done on the way; EXTRA: a table, scales, or nothing that is read."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    if KIND == "gathered":
        m_from = tl.load(EXTRA + m)
    else:
        m_from = m
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        if KIND == "ragged":
            a = tl.load(A + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            b = tl.load(B + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        else:
            if KIND == "sparse":  # only the blocks of k that a table names
                k = tl.load(EXTRA + step) * BK + tl.arange(0, BK)
            a = tl.load(A + m_from[:, None] * K + k[None, :])
            if KIND == "int4":
                packed = tl.load(B + (k[:, None] // 8) * N + n[None, :])
                b = (((packed >> ((k % 8) * 4)[:, None]) & 15) - 8).to(tl.float16) * tl.load(EXTRA + n)[None, :]
            else:
                b = tl.load(B + k[:, None] * N + n[None, :]).to(tl.float16)
            if KIND == "bytes":
                b = b * tl.load(EXTRA + n)[None, :]
            if KIND == "rows":
                a = a * tl.load(EXTRA + m)[:, None]
            if KIND == "relu":
                a = tl.where(a > 0, a, 0.0).to(tl.float16)
        total += tl.dot(a, b)
    out = C + m[:, None] * N + n[None, :]
    if KIND == "ragged":
        tl.store(out, total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))
    else:
        tl.store(out, total.to(tl.float16))


def convolution(images, height, width, channels, filters, window, pad, block_m, block_n, block_k, by_index):
    """Implicit GEMM over images (N, H, W, C) and filters (R, S, C, F), with a stride of 1."""
    high, wide = height + 2 * pad - window + 1, width + 2 * pad - window + 1
    depth = window * window * channels

    @T.prim_func
    def main(
        X: T.Tensor((images, height, width, channels), "float16"),
        K: T.Tensor((depth, filters), "float16"),
        Y: T.Tensor((images * high * wide, filters), "float16"),
    ):
        with T.Kernel(T.ceildiv(filters, block_n), T.ceildiv(images * high * wide, block_m), threads=256) as (bx, by):
            patches = T.alloc_shared((block_m, block_k), "float16")
            weights = T.alloc_shared((block_k, block_n), "float16")
            sums = T.alloc_fragment((block_m, block_n), "float32")
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(depth, block_k), num_stages=3):
                if by_index:
                    for i, j in T.Parallel(block_m, block_k):
                        at, place = k * block_k + j, by * block_m + i
                        row = place % (high * wide) // wide + at // (window * channels) - pad
                        column = place % wide + at // channels % window - pad
                        inside = (row >= 0) and (column >= 0) and (row < height) and (column < width)
                        patches[i, j] = T.if_then_else(inside, X[place // (high * wide), row, column, at % channels], 0)
                else:
                    T.c2d_im2col(X, patches, by, k, window, 1, 1, pad)
                T.copy(K[k * block_k, bx * block_n], weights)
                T.gemm(patches, weights, sums)
            T.copy(sums, Y[by * block_m, bx * block_n])

    return tilelang.compile(main)
