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
