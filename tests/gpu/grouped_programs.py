"""Products of problems of a table, in as many spellings: tensors that are known in the kernel only."""

import tileon
import tileon.language as tl


@tileon.jit
def pointers(tables, sizes, strides, groups, NUM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of (A, B, C), (M, N, K) and (lda, ldb, ldc); sizes are multiples of the tiles'."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * across
        while tile >= before and tile < before + tiles:
            lda, ldb, ldc = tl.load(strides + g * 3), tl.load(strides + g * 3 + 1), tl.load(strides + g * 3 + 2)
            a = tl.load(tables + g * 3).to(tl.pointer_type(tl.float16))
            b = tl.load(tables + g * 3 + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(tables + g * 3 + 2).to(tl.pointer_type(tl.float16))
            at = tile - before
            m = at // across * BM + tl.arange(0, BM)
            n = at % across * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            a_ptrs = a + m[:, None] * lda + k[None, :]
            b_ptrs = b + k[:, None] * ldb + n[None, :]
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for _ in range(0, tl.cdiv(K, BK)):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
                a_ptrs += BK
                b_ptrs += BK * ldb
            tl.store(c + ldc * m[:, None] + n[None, :], acc.to(tl.float16))
            tile += NUM
        before = before + tiles


@tileon.jit
def masked(tables, sizes, strides, groups, NUM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same with any sizes."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * across
        lda, ldb, ldc = tl.load(strides + g * 3), tl.load(strides + g * 3 + 1), tl.load(strides + g * 3 + 2)
        a = tl.load(tables + g * 3).to(tl.pointer_type(tl.float16))
        b = tl.load(tables + g * 3 + 1).to(tl.pointer_type(tl.float16))
        c = tl.load(tables + g * 3 + 2).to(tl.pointer_type(tl.float16))
        while tile >= before and tile < before + tiles:
            at = tile - before
            m = at // across * BM + tl.arange(0, BM)
            n = at % across * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for step in range(0, tl.cdiv(K, BK)):
                k = step * BK + tl.arange(0, BK)
                a_ptrs = a + m[:, None] * lda + k[None, :]
                b_ptrs = b + k[:, None] * ldb + n[None, :]
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                x = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
                y = tl.load(b_ptrs, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
                acc = tl.dot(x, y, acc)
            inside = (m[:, None] < M) & (n[None, :] < N)
            tl.store(c + m[:, None] * ldc + n[None, :], acc.to(tl.float16), mask=inside)
            tile += NUM
        before += tiles


@tileon.jit
def descriptors(tables, sizes, strides, groups, NUM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """By descriptors that the kernel makes; B is (N, K)."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * across
        if tile >= before and tile < before + tiles:
            lda, ldb, ldc = tl.load(strides + g * 3), tl.load(strides + g * 3 + 1), tl.load(strides + g * 3 + 2)
            a = tl.load(tables + g * 3).to(tl.pointer_type(tl.float16))
            b = tl.load(tables + g * 3 + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(tables + g * 3 + 2).to(tl.pointer_type(tl.float16))
            x = tl.make_tensor_descriptor(a, shape=[M, K], strides=[lda, 1], block_shape=[BM, BK])
            y = tl.make_tensor_descriptor(b, shape=[N, K], strides=[ldb, 1], block_shape=[BN, BK])
            z = tl.make_tensor_descriptor(c, shape=[M, N], strides=[ldc, 1], block_shape=[BM, BN])
            while tile >= before and tile < before + tiles:
                at = tile - before
                m, n = at // across * BM, at % across * BN
                acc = tl.zeros((BM, BN), dtype=tl.float32)
                for step in range(0, tl.cdiv(K, BK)):
                    acc += tl.dot(x.load([m, step * BK]), y.load([n, step * BK]).T)
                z.store([m, n], acc.to(tl.float16))
                tile += NUM
        before = before + tiles


@tileon.jit
def experts(a, b, c, first, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows first[e] to first[e + 1] of A times matrix e of B (E, K, N); program (i, j, e)."""
    e = tl.program_id(2)
    begin, end = tl.load(first + e), tl.load(first + e + 1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    rows = end - begin
    a_ptrs = a + begin * K
    c_ptrs = c + begin * N
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        x = tl.load(a_ptrs + m[:, None] * K + k[None, :], mask=(m[:, None] < rows) & (k[None, :] < K), other=0.0)
        y = tl.load(b + e * K * N + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c_ptrs + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < rows) & (n[None, :] < N))
