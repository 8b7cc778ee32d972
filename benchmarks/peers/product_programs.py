"""Programs around a product: split and streamed steps, groups of problems, packed weights, two products, one row."""

import tileon
import tileon.language as tl


@tileon.jit
def split_k_atomics(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """Programs of the second axis take every SPLIT-th step and add to C (f32, zeros)."""
    pid, part = tl.program_id(0), tl.program_id(1)
    m = pid // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
    n = pid % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
    k = part * BK + tl.arange(0, BK)
    a_ptrs = a + m[:, None] * K + k[None, :]
    b_ptrs = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BK * SPLIT)):
        left = K - i * (BK * SPLIT)
        x = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b_ptrs, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
        a_ptrs += BK * SPLIT
        b_ptrs += BK * SPLIT * N
    tl.atomic_add(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N), sem="relaxed")


@tileon.jit
def split_k_semaphores(a, b, c, locks, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """Each part waits for the one before it, adds to what that left in C, and lets the next one go on."""
    pid, part = tl.program_id(0), tl.program_id(1)
    m = pid // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
    n = pid % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
    share = tl.cdiv(tl.cdiv(K, BK), SPLIT)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(part * share, min(part * share + share, tl.cdiv(K, BK))):
        k = i * BK + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    c_ptrs = c + m[:, None] * N + n[None, :]
    inside = (m[:, None] < M) & (n[None, :] < N)
    while tl.atomic_cas(locks + pid, part, part) != part:
        pass
    if part > 0:
        acc += tl.load(c_ptrs, mask=inside, other=0.0)
    tl.store(c_ptrs, acc, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + pid, (part + 1) % SPLIT)


@tileon.jit
def stream_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """All steps of all tiles in one row, cut into as many pieces as there are programs; C (f32) begins with zeros."""
    steps = tl.cdiv(K, BK)
    total = steps * tl.cdiv(M, BM) * tl.cdiv(N, BN)
    share = tl.cdiv(total, tl.num_programs(0))
    at = tl.program_id(0) * share
    end = min(at + share, total)
    while at < end:
        tile, first = at // steps, at % steps
        last = min(steps, first + end - at)
        m = tile // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
        n = tile % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for i in range(first, last):
            k = i * BK + tl.arange(0, BK)
            x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
            acc = tl.dot(x, y, acc)
        c_ptrs = c + m[:, None] * N + n[None, :]
        inside = (m[:, None] < M) & (n[None, :] < N)
        if last - first == steps:
            tl.store(c_ptrs, acc, mask=inside)
        else:
            tl.atomic_add(c_ptrs, acc, mask=inside, sem="relaxed")
        at += last - first


@tileon.jit
def grouped(
    pointers, sizes, groups, NUM_PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Problems of different sizes: rows of (A, B, C) and (M, N, K) in memory; all row-major, f16."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
        while tile >= before and tile < before + tiles:
            a = tl.load(pointers + g * 3).to(tl.pointer_type(tl.float16))
            b = tl.load(pointers + g * 3 + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(pointers + g * 3 + 2).to(tl.pointer_type(tl.float16))
            at = tile - before
            m = at // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
            n = at % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            a_ptrs = a + m[:, None] * K + k[None, :]
            b_ptrs = b + k[:, None] * N + n[None, :]
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for _ in range(0, tl.cdiv(K, BK)):  # as in the tutorial: sizes are multiples of the tiles'
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), acc)
                a_ptrs += BK
                b_ptrs += BK * N
            tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))
            tile += NUM_PROGRAMS
        before += tiles


@tileon.jit
def int4_weights(
    a, b, scales, c, M, N, K, SCALED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """B: eight numbers of 4 bits along k in an int32 (K / 8, N), scales of SCALED steps each (K / SCALED, N)."""
    pid = tl.program_id(0)
    m = pid % tl.cdiv(M, BM) * BM + tl.arange(0, BM)
    n = pid // tl.cdiv(M, BM) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        x = tl.load(a + m[:, None] * K + (i * BK + k)[None, :], mask=m[:, None] < M, other=0.0)
        packed = tl.load(b + ((i * BK + k) // 8)[:, None] * N + n[None, :])
        scale = tl.load(scales + i * BK // SCALED * N + n)
        y = (((packed >> (k % 8 * 4)[:, None]) & 15) - 8).to(tl.float16) * scale[None, :]
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@tileon.jit
def mlp(x, up, down, y, M, H, D: tl.constexpr, BM: tl.constexpr, BH: tl.constexpr):
    """y = relu(x @ up)^2 @ down with rows of D numbers: a program holds rows of x and goes through the H hidden ones."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    rows = tl.load(x + m[:, None] * D + d[None, :], mask=m[:, None] < M, other=0.0)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for first in range(0, H, BH):
        h = first + tl.arange(0, BH)
        hidden = tl.dot(rows, tl.load(up + d[:, None] * H + h[None, :], mask=h[None, :] < H, other=0.0))
        hidden = tl.maximum(hidden, 0.0)
        hidden = (hidden * hidden).to(tl.float16)
        acc = tl.dot(hidden, tl.load(down + h[:, None] * D + d[None, :], mask=h[:, None] < H, other=0.0), acc)
    tl.store(y + m[:, None] * D + d[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@tileon.jit
def matrix_vector(a, x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """y = A @ x, rows of A in pieces."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, N, BN):
        n = first + tl.arange(0, BN)
        piece = tl.load(a + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
        acc += piece.to(tl.float32) * tl.load(x + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    tl.store(y + m, tl.sum(acc, 1).to(y.dtype.element_ty), mask=m < M)
