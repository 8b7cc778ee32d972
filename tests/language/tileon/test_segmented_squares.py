"""Tiles that are turned, one side of which is taken apart by quotients and remainders: images to channels last and back. Ragged
sizes, types of every size, places that overlap, work between, sides divided by constants and by numbers of the launch."""

import itertools

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.bool]
SIZES = [(1, 8, 1), (3, 12, 49), (2, 64, 65), (5, 16, 33), (3, 48, 64), (7, 3, 50)]  # N, C, X


@tileon.jit
def to_last(x, o, ys, xs, sx, step, apart, C, Y: tl.constexpr, X: tl.constexpr):
    y = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    i = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    v = tl.load(x + (i + sx * y), (i < xs) & (y < ys), eviction_policy="evict_last")
    tl.store(o + (y % C + step * i + apart * (y // C)), v, (i < xs) & (y < ys))


@tileon.jit
def to_last_by_constants(x, o, ys, xs, sx, step: tl.constexpr, apart, C: tl.constexpr, Y: tl.constexpr, X: tl.constexpr):
    y = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    i = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    v = tl.load(x + (i + sx * y), (i < xs) & (y < ys), eviction_policy="evict_last")
    tl.store(o + (y % C + step * i + apart * (y // C)), v, (i < xs) & (y < ys))


@tileon.jit
def to_last_from_columns(x, o, ys, xs, sx, step, apart, C, Y: tl.constexpr, X: tl.constexpr):
    """The same, in tiles whose rows are the other side."""
    y = tl.program_id(1) * Y + tl.arange(0, Y)[None, :]
    i = tl.program_id(0) * X + tl.arange(0, X)[:, None]
    v = tl.load(x + (i + sx * y), (i < xs) & (y < ys))
    tl.store(o + (y % C + step * i + apart * (y // C)), v, (i < xs) & (y < ys))


@tileon.jit
def to_first(x, o, ys, xs, so, step, apart, C, Y: tl.constexpr, X: tl.constexpr):
    y = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    i = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    v = tl.load(x + (y % C + step * i + apart * (y // C)), (i < xs) & (y < ys))
    tl.store(o + (i + so * y), v, (i < xs) & (y < ys))


@tileon.jit
def to_first_from_columns(x, o, ys, xs, so, step, apart, C, Y: tl.constexpr, X: tl.constexpr):
    y = tl.program_id(1) * Y + tl.arange(0, Y)[None, :]
    i = tl.program_id(0) * X + tl.arange(0, X)[:, None]
    v = tl.load(x + (y % C + step * i + apart * (y // C)), (i < xs) & (y < ys))
    tl.store(o + (i + so * y), v, (i < xs) & (y < ys))


def numbers(shape, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-100, 100, shape, generator=generator, device="cpu").to(dtype)


@pytest.mark.pairs
@pytest.mark.parametrize("blocks", [(64, 32), (16, 64)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kernel", [to_last, to_last_by_constants, to_last_from_columns], ids=lambda k: k.__name__)
def test_channels_last(device, kernel, dtype, blocks):
    for seed, (N, C, X) in enumerate(SIZES):
        x = numbers((N * C, X + 3), dtype, seed).to(device)
        o = numbers((N, X + 2, C + seed % 2), dtype, seed + 100).to(device)
        wanted = o.clone()
        wanted[:, :X, :C] = x[:, :X].reshape(N, C, X).transpose(1, 2)
        Y, B = blocks
        grid = (tileon.cdiv(X, B), tileon.cdiv(N * C, Y))
        kernel[grid](x, o, N * C, X, x.stride(0), o.stride(1), o.stride(0), C, Y, B)
        assert torch.equal(o, wanted), (N, C, X)


@pytest.mark.pairs
@pytest.mark.parametrize("blocks", [(64, 32), (16, 64)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kernel", [to_first, to_first_from_columns], ids=lambda k: k.__name__)
def test_channels_first(device, kernel, dtype, blocks):
    for seed, (N, C, X) in enumerate(SIZES):
        x = numbers((N, X + 2, C + seed % 2), dtype, seed).to(device)
        o = numbers((N * C, X + 3), dtype, seed + 100).to(device)
        wanted = o.clone()
        wanted[:, :X] = x[:, :X, :C].transpose(1, 2).reshape(N * C, X)
        Y, B = blocks
        grid = (tileon.cdiv(X, B), tileon.cdiv(N * C, Y))
        kernel[grid](x, o, N * C, X, o.stride(0), x.stride(1), x.stride(0), C, Y, B)
        assert torch.equal(o, wanted), (N, C, X)


def test_vectors_lie_along_what_is_stored(device):
    if device == "cuda":
        pytest.skip("code of CPUs")
    x, o = torch.zeros((64, 64)), torch.zeros((2, 64, 32))
    found = to_last_by_constants[(1, 1)](x, o, 64, 64, 64, 32, 2048, 32, 64, 64)
    assert "call void @llvm.masked.scatter" not in found.asm["llvm"]


@pytest.mark.parametrize("kernel", [to_last, to_last_from_columns], ids=lambda k: k.__name__)
@pytest.mark.parametrize("step", [100, 20, 16, 15, 1, 0, -16])
def test_what_lies_in_one_place_is_the_last(device, kernel, step):
    """Which one is left is the oracle's order: rows of the tile one after the other."""
    if device == "cuda":
        pytest.skip("threads of a GPU store in no order")
    Y, X, origin = 64, 32, 4000
    x = torch.arange(Y * X, dtype=torch.float32).reshape(Y, X)
    y, i = np.arange(Y - 5), np.arange(X - 3)
    for C, apart in itertools.product((16, 20), (0, 1, 700, -3)):
        o = torch.full((origin + 6000,), -7.0)
        wanted = o.clone().numpy()
        ordered = itertools.product(y, i) if kernel is to_last else (pair[::-1] for pair in itertools.product(i, y))
        for row, column in ordered:
            wanted[origin + row % C + step * column + apart * (row // C)] = x[row, column]
        kernel[(1, 1)](x, o[origin:], Y - 5, X - 3, X, step, apart, C, Y, X)
        assert np.array_equal(o.numpy(), wanted), (C, apart)


@tileon.jit
def block(x, scale, shift, residual, o, kept, ys, xs, sx, step, apart, C, Y: tl.constexpr, X: tl.constexpr):
    """Of an image: a number for each channel, an image that lies as the result does, two results."""
    y = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    i = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    mask = (i < xs) & (y < ys)
    at = y % C + step * i + apart * (y // C)
    v = tl.load(x + (i + sx * y), mask, other=0.0).to(tl.float32)
    v = v * tl.load(scale + y % C, y < ys) + tl.load(shift + y, y < ys)
    tl.store(kept + (i + sx * y), v, mask)
    tl.store(o + at, tl.maximum(v + tl.load(residual + at, mask), 0.0), mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int8], ids=str)
def test_work_between(device, dtype):
    for seed, (N, C, X) in enumerate(SIZES):
        x = numbers((N * C, X), dtype, seed)
        scale, shift = numbers((C,), torch.float32, seed), numbers((N * C,), torch.float32, seed + 1)
        residual = numbers((N, X, C), torch.float32, seed + 2)
        o, kept = torch.full((N, X, C), torch.nan), torch.full((N * C, X), torch.nan)
        inner = x.float() * scale.repeat(N)[:, None] + shift[:, None]  # whole numbers below 2^24
        outer = torch.relu(inner.reshape(N, C, X).transpose(1, 2) + residual)
        for Y, B in ((64, 32), (32, 8)):
            tensors = [each.to(device) for each in (x, scale, shift, residual, o, kept)]
            block[(tileon.cdiv(X, B), tileon.cdiv(N * C, Y))](*tensors, N * C, X, X, C, X * C, C, Y, B)
            assert torch.equal(tensors[4].cpu(), outer), (N, C, X)
            assert torch.equal(tensors[5].cpu(), inner), (N, C, X)


@tileon.jit
def in_place(x, n, step, apart, C, Y: tl.constexpr, X: tl.constexpr):
    y, i = tl.arange(0, Y)[:, None], tl.arange(0, X)[None, :]
    v = tl.load(x + (i + X * y), y < n)
    tl.store(x + (y % C + step * i + apart * (y // C)), v, y < n)


def test_in_place(device):
    """All is read before anything is written."""
    for N, C, X in ((2, 16, 32), (3, 20, 16), (4, 8, 64)):
        x = numbers((N * C, X), torch.float32, C)
        wanted = x.reshape(N, C, X).transpose(1, 2).contiguous()
        x = x.to(device)
        in_place[(1,)](x, N * C, C, C * X, C, 64, X)
        assert torch.equal(x.cpu().flatten(), wanted.flatten()), (N, C, X)


@tileon.jit
def from_below_zero(x, o, first, apart, C, TO: tl.constexpr, Y: tl.constexpr, X: tl.constexpr):
    y, i = first + tl.arange(0, Y)[:, None], tl.arange(0, X)[None, :]
    at, number = y % C + 2 * C * i + apart * (y // C), i + X * (y - first)
    tl.store(o + (at if TO else number), tl.load(x + (number if TO else at)))


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("to", [False, True])
@pytest.mark.parametrize("C", [16, 20])
def test_numbers_below_zero(device, to, C):
    """Quotients are rounded to zero, where the segment of the quotient 0 begins anew."""
    first, apart, Y, X, origin = -2 * C - 7, 1000, 64, 16, 3500
    y = np.arange(Y) + first
    at = np.fmod(y, C)[:, None] + 2 * C * np.arange(X) + apart * np.trunc(y / C).astype(int)[:, None] + origin
    image, tile = torch.arange(8000, dtype=torch.float32), torch.arange(Y * X, dtype=torch.float32).reshape(Y, X)
    wanted = image.clone()
    wanted[torch.from_numpy(at)] = tile
    source, o = (tile, image.clone()) if to else (image, torch.zeros_like(tile))
    source, o = source.to(device), o.to(device)
    image_start = (o if to else source)[origin:]
    arguments = (source, image_start) if to else (image_start, o)
    from_below_zero[(1,)](*arguments, first, apart, C, to, Y, X)
    assert torch.equal(o.cpu(), wanted if to else image[torch.from_numpy(at)])
