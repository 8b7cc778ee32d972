"""Tiles that are read along another dimension than they are written along: every spelling, types of every size, ragged edges,
rows that overlap, tiles of three dimensions, tiles that were computed before."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.bool]
SHAPES = [(1, 1), (7, 40), (64, 48), (65, 130), (129, 16)]


@tileon.jit
def by_trans(x, o, M, N, sx, so, BM: tl.constexpr, BN: tl.constexpr):
    r, c = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + r[:, None] * sx + c[None, :], mask=(r[:, None] < M) & (c[None, :] < N))
    tl.store(o + c[:, None] * so + r[None, :], tl.trans(v), mask=(c[:, None] < N) & (r[None, :] < M))


@tileon.jit
def by_store(x, o, M, N, sx, so, BM: tl.constexpr, BN: tl.constexpr):
    r, c = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (r[:, None] < M) & (c[None, :] < N)
    tl.store(o + c[None, :] * so + r[:, None], tl.load(x + r[:, None] * sx + c[None, :], mask=mask), mask=mask)


@tileon.jit
def by_load(x, o, M, N, sx, so, BM: tl.constexpr, BN: tl.constexpr):
    r, c = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (c[:, None] < N) & (r[None, :] < M)
    tl.store(o + c[:, None] * so + r[None, :], tl.load(x + r[None, :] * sx + c[:, None], mask=mask), mask=mask)


def numbers(shape, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-100, 100, shape, generator=generator, device="cpu").to(dtype)


@pytest.mark.pairs
@pytest.mark.parametrize("blocks", [(64, 32), (8, 4)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kernel", [by_trans, by_store, by_load], ids=lambda k: k.__name__)
def test_spellings(device, kernel, dtype, blocks):
    for seed, (M, N) in enumerate(SHAPES):
        x = numbers((M, N + 5), dtype, seed).to(device)
        o = numbers((N, M + 3), dtype, seed + 100).to(device)
        wanted = o.clone()
        wanted[:, :M] = x[:, :N].T
        BM, BN = blocks
        kernel[(tileon.cdiv(M, BM), tileon.cdiv(N, BN))](x, o, M, N, x.stride(0), o.stride(0), BM, BN)
        assert torch.equal(o, wanted), (M, N)


@tileon.jit
def whole(x, o, sx, so, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    tl.store(o + c[:, None] * so + r[None, :], tl.trans(tl.load(x + r[:, None] * sx + c[None, :])))


@pytest.mark.parametrize("step", [100, 64, 63, 8, 1, 0, -1, -64, -100])
def test_rows_that_overlap_keep_the_last(device, step):
    """Which one is left is the oracle's order: rows one after the other."""
    if device == "cuda" and abs(step) < 64:
        pytest.skip("threads of a GPU store in no order")
    x = numbers((64, 32), torch.float32, 1).to(device)
    origin = 100 * 31
    o = torch.full((2 * origin + 64,), -7.0)
    wanted = o.clone()
    for c in range(32):
        wanted[origin + c * step:origin + c * step + 64] = x[:, c]
    whole[(1,)](x, o[origin:], 32, step, 64, 32)
    assert torch.equal(o, wanted)


@tileon.jit
def add_turned(x, y, M, N, B: tl.constexpr):
    """y += x^T - 2 y^T's own rows, in place; and a column and a row of numbers."""
    r, c = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    mask = (c[:, None] < N) & (r[None, :] < M)
    here = y + c[:, None] * M + r[None, :]
    v = tl.load(here, mask=mask) * 3 + tl.load(x + r[None, :] * N + c[:, None], mask=mask, other=5)
    tl.store(here, v + r[None, :] - c[:, None], mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.int64, torch.float16], ids=str)
@pytest.mark.parametrize("M, N", SHAPES)
def test_in_place(device, M, N, dtype):
    x, y = numbers((M, N), dtype, 3).to(device), (numbers((N, M), dtype, 4) // 8).to(device)
    r, c = torch.arange(M, device=device)[None, :], torch.arange(N, device=device)[:, None]
    wanted = (y.to(torch.int64) * 3 + x.T.to(torch.int64) + r - c).to(dtype)
    add_turned[(tileon.cdiv(M, 32), tileon.cdiv(N, 32))](x, y, M, N, 32)
    assert torch.equal(y, wanted)


@tileon.jit
def permuted(x, o, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, P: tl.constexpr, Q: tl.constexpr, R: tl.constexpr):
    i, j, k = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    v = tl.load(x + (i * b + j) * c + k, mask=(i < a) & (j < b) & (k < c), other=0)
    v = tl.permute(v * 2 + 1, (P, Q, R))
    sizes = (A, B, C)
    p = tl.arange(0, sizes[P])[:, None, None]
    q = tl.arange(0, sizes[Q])[None, :, None]
    r = tl.arange(0, sizes[R])[None, None, :]
    tl.store(o + (p * sizes[Q] + q) * sizes[R] + r, v)


@pytest.mark.pairs
@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.int64], ids=str)
@pytest.mark.parametrize("sizes, blocks", [((4, 16, 32), (4, 16, 32)), ((3, 13, 30), (4, 16, 32)), ((16, 1, 8), (16, 1, 8)),
                                           ((2, 5, 64), (2, 8, 64))], ids=str)
def test_three_dimensions(device, sizes, blocks, order, dtype):
    x = (numbers(sizes, dtype, 6) // 4).to(device)
    full = torch.zeros(blocks, dtype=dtype, device=device)
    full[:sizes[0], :sizes[1], :sizes[2]] = x
    wanted = (full * 2 + 1).permute(order).contiguous()
    o = torch.full_like(wanted, -77)
    permuted[(1,)](x, o, *sizes, *blocks, *order)
    assert torch.equal(o, wanted)


@tileon.jit
def sorted_columns(x, o, w, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    v = tl.sort(tl.load(x + r[:, None] * N + c[None, :]))
    tl.store(o + c[:, None] * M + r[None, :], tl.trans(v) + tl.load(w + r)[None, :])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.int64], ids=str)
@pytest.mark.parametrize("M, N", [(32, 64), (8, 16), (64, 4), (2, 128)])
def test_a_tile_that_was_computed(device, M, N, dtype):
    x, w = numbers((M, N), dtype, 8).to(device), numbers((M,), dtype, 9).to(device)
    o = torch.full((N, M), -77, dtype=dtype, device=device)
    sorted_columns[(1,)](x, o, w, M, N)
    assert torch.equal(o, torch.sort(x, dim=1).values.T + w[None, :])


@tileon.jit
def blocks_of_rows(x, o, N, FIRST: tl.constexpr, M: tl.constexpr, B: tl.constexpr):
    """Bounds on both sides: neither the first nor the last elements of the tile exist."""
    r, c = tl.arange(0, M), tl.arange(0, B)
    mask = (r[:, None] >= FIRST) & (r[:, None] < M - FIRST) & (c[None, :] >= 3) & (c[None, :] < N)
    v = tl.load(x + r[:, None] * B + c[None, :], mask=mask, other=-1)
    tl.store(o + c[:, None] * M + r[None, :], tl.trans(v))


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.float64], ids=str)
@pytest.mark.parametrize("n", [0, 3, 4, 40, 64, 100])
@pytest.mark.parametrize("first", [0, 5])
def test_bounds_on_both_sides(device, n, first, dtype):
    x = numbers((48, 64), dtype, 11).abs().to(dtype).to(device)
    o = torch.full((64, 48), 77, dtype=dtype, device=device)
    wanted = torch.full((48, 64), -1, dtype=torch.int64).to(dtype).to(device)
    wanted[first:48 - first, 3:max(3, min(n, 64))] = x[first:48 - first, 3:max(3, min(n, 64))]
    blocks_of_rows[(1,)](x, o, n, first, 48, 64)
    assert torch.equal(o, wanted.T)
