"""Scans and sums along each dimension of a tile, in and out of loops."""

import triton
import triton.language as tl


@triton.jit
def _affine(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def _larger(v1, i1, v2, i2):
    first = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(first, v1, v2), tl.where(first, i1, i2)


@triton.jit
def whole_tile(x, scanned, sums, most, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value = tl.load(x + places)
    tl.store(scanned + places, tl.cumsum(value, AXIS, reverse=REVERSE))
    kept = tl.arange(0, M if AXIS else N)
    tl.store(sums + kept, tl.sum(value, AXIS))
    tl.store(most + kept, tl.max(value, AXIS))


@triton.jit
def recurrence(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value = tl.load(x + places)
    _, scanned = tl.associative_scan((value * 0 - 1, value), AXIS, _affine, reverse=REVERSE)
    tl.store(out + places, scanned)


@triton.jit
def row(x, out, n, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0), 0, reverse=REVERSE), mask=i < n)


@triton.jit
def running_largest(x, values, places, N: tl.constexpr):
    i = tl.arange(0, N)
    value, place = tl.associative_scan((tl.load(x + i), i), 0, _larger)
    tl.store(values + i, value)
    tl.store(places + i, place)


@triton.jit
def columns_by_pieces(x, out, totals, m, n, M: tl.constexpr, N: tl.constexpr):
    """A scan down the columns of a tensor, piece by piece: what the pieces above come to is carried."""
    column = tl.program_id(0) * N + tl.arange(0, N)
    above = tl.zeros((N,), tl.float32)
    for start in range(0, m, M):
        line = start + tl.arange(0, M)
        mask = (line < m)[:, None] & (column < n)[None, :]
        places = line[:, None] * n + column[None, :]
        value = tl.load(x + places, mask=mask, other=0.0)
        tl.store(out + places, above[None, :] + tl.cumsum(value, 0), mask=mask)
        above += tl.sum(value, 0)
    tl.store(totals + column, above, mask=column < n)


@triton.jit
def recurrent_state(q, k, v, g, out, steps, K: tl.constexpr, V: tl.constexpr):
    """h = exp(g) h + k v^T and q^T h of each step: vectors that move on by pointers."""
    ik, iv = tl.arange(0, K), tl.arange(0, V)
    state = tl.zeros((K, V), tl.float32)
    q, k, g, v, out = q + ik, k + ik, g + ik, v + iv, out + iv
    for _ in range(0, steps):
        state = state * tl.exp(tl.load(g).to(tl.float32))[:, None]
        state += tl.load(k).to(tl.float32)[:, None] * tl.load(v).to(tl.float32)[None, :]
        tl.store(out, tl.sum(state * tl.load(q).to(tl.float32)[:, None], 0))
        q += K
        k += K
        g += K
        v += V
        out += V
