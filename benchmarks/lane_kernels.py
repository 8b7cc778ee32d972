"""Kernels in which elements meet others: sorted and scanned rows, updates of computed places."""

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def sort_rows(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o_ptr + at, tl.sort(tl.load(x_ptr + at)))


@tileon.jit
def top_of_rows(x_ptr, o_ptr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o_ptr + row * K + tl.arange(0, K), tl.topk(tl.load(x_ptr + row * N + tl.arange(0, N)), K))


@tileon.jit
def sums_along_rows(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o_ptr + at, tl.cumsum(tl.load(x_ptr + at), 0))


@tileon.jit
def sums_down_columns(x_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr):
    column = tl.program_id(0) * N + tl.arange(0, N)[None, :]
    at = tl.arange(0, M)[:, None] * n + column
    tl.store(o_ptr + at, tl.cumsum(tl.load(x_ptr + at, mask=column < n), 0), mask=column < n)


@tileon.jit
def largest_of_rows(x_ptr, o_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o_ptr + row, tl.argmax(tl.load(x_ptr + row * N + tl.arange(0, N)), 0).to(tl.int64))


@tileon.jit
def scatter_add(o_ptr, places, values, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(o_ptr + tl.load(places + at, mask=mask, other=0), tl.load(values + at, mask=mask), mask=mask)


@tileon.jit
def add_rows(o_ptr, rows, values, N: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(o_ptr + tl.load(rows + row) * N + column, tl.load(values + row * N + column))


@tileon.jit
def windows(x_ptr, w_ptr, o_ptr, n, C, H, W, K: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    """A window of each channel, its elements numbered through. Channels last (weights, too) or first."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if LAST:
        channel, column, row, image = at % C, at // C % W, at // (C * W) % H, at // (C * W * H)
    else:
        column, row, channel, image = at % W, at // W % H, at // (W * H) % C, at // (W * H * C)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            r, c = row + i - K // 2, column + j - K // 2
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W) & (at < n)
            place = ((image * H + r) * W + c) * C + channel if LAST else ((image * C + channel) * H + r) * W + c
            weight = tl.load(w_ptr + ((i * K + j) * C + channel if LAST else (channel * K + i) * K + j))
            total += weight * tl.load(x_ptr + place, mask=inside, other=0.0)
    tl.store(o_ptr + at, total, mask=at < n)


@tileon.jit
def vector_times_columns(a_ptr, b_ptr, o_ptr, N, K, sk, sn, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BN,), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + k, mask=k < K, other=0.0)
        b = tl.load(b_ptr + k[:, None] * sk + n[None, :] * sn, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        total += tl.sum(a[:, None] * b, 0)
    tl.store(o_ptr + n, total, mask=n < N)
