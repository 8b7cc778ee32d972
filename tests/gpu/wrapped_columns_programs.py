"""Rotary embedding as libraries write it: rows beyond the last one and columns beyond a head begin anew."""

import triton
import triton.language as tl


@triton.jit
def rotary(x, cos, sin, out, rows, stride, HALF: tl.constexpr, BLOCK: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.arange(0, BLOCK_N)
    mask = (row < rows)[:, None] & (column < HALF)[None, :]
    row = row % rows
    column = column % HALF
    low = row[:, None] * stride + column[None, :]
    turn = row[:, None] * HALF + (column + column // HALF)[None, :]
    c, s = tl.load(cos + turn), tl.load(sin + turn)
    a, b = tl.load(x + low), tl.load(x + low + HALF)
    tl.store(out + low, a * c - b * s, mask=mask)
    tl.store(out + low + HALF, b * c + a * s, mask=mask)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Beyond its last step k begins anew in both factors: threads fetch columns of one by it, and rows of the other."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        left = tl.load(a + (m % M)[:, None] * K + (k % K)[None, :])
        right = tl.load(b + (k % K)[:, None] * N + (n % N)[None, :], mask=(k < K)[:, None], other=0.0)
        total += tl.dot(left, right)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m < M)[:, None] & (n < N)[None, :])
