"""Tiles whose rows are shorter than a vector, and tiles that are taken apart into pairs and joined again: transforms of 2^n
elements and loops over rows of a few elements. Integers are exact; the Fourier transform is compared with float64."""

import math

import pytest
import torch
from language.bounds import UNITS, within

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def fourier(xr, xi, yr, yi, cosines, sines, N: tl.constexpr, STEPS: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    at = row * N + tl.arange(0, N)[None, :]
    real, imaginary = tl.load(xr + at), tl.load(xi + at)
    for step in tl.static_range(STEPS):
        half: tl.constexpr = N // 2
        width: tl.constexpr = 2**step
        a, b = tl.split(tl.permute(tl.reshape(real, (ROWS, 2, half)), (0, 2, 1)))
        c, d = tl.split(tl.permute(tl.reshape(imaginary, (ROWS, 2, half)), (0, 2, 1)))
        turn = tl.arange(0, half) // width * width
        cosine, sine = tl.load(cosines + turn)[None, :], tl.load(sines + turn)[None, :]
        e, f = (a - b) * cosine - (c - d) * sine, (a - b) * sine + (c - d) * cosine
        shape: tl.constexpr = (ROWS, half // width, width)
        real = tl.join(tl.reshape(a + b, shape), tl.reshape(e, shape))
        real = tl.reshape(tl.permute(real, (0, 1, 3, 2)), (ROWS, N))
        imaginary = tl.join(tl.reshape(c + d, shape), tl.reshape(f, shape))
        imaginary = tl.reshape(tl.permute(imaginary, (0, 1, 3, 2)), (ROWS, N))
    tl.store(yr + at, real)
    tl.store(yi + at, imaginary)


@pytest.mark.parametrize(("n", "rows"), [(2, 1), (2, 8), (8, 1), (16, 4), (64, 1), (64, 4), (256, 2)])
def test_fourier_transforms(n, rows):
    torch.manual_seed(n)
    x = torch.randn(3 * rows, n, dtype=torch.complex64)
    angles = -2 * math.pi * torch.arange(n // 2, dtype=torch.float64) / n
    y = torch.full((2, *x.shape), float("nan"))
    steps = n.bit_length() - 1
    fourier[(3,)](x.real.contiguous(), x.imag.contiguous(), *y, angles.cos().float(), angles.sin().float(), n, steps, rows)
    exact = torch.fft.fft(x.to(torch.complex128))
    # A step rounds a difference, two products, their sum and the factors: each by less than a unit of the row's size.
    bound = (x.real.double().abs() + x.imag.double().abs()).sum(1, keepdim=True) * steps * 8 * UNITS[torch.float32]
    within(y[0], (exact.real, bound.expand(x.shape)))
    within(y[1], (exact.imag, bound.expand(x.shape)))


@tileon.jit
def hadamard(x, y, N: tl.constexpr, STEPS: tl.constexpr, ROWS: tl.constexpr):
    at = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]) * N + tl.arange(0, N)[None, :]
    value = tl.load(x + at)
    for step in tl.static_range(STEPS):
        pairs = tl.permute(tl.reshape(value, (ROWS * N // 2 // 2**step, 2, 2**step)), (0, 2, 1))
        a, b = tl.split(pairs)
        value = tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), (ROWS, N))
    tl.store(y + at, value)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "rows"), [(2, 1), (4, 2), (8, 8), (64, 1), (64, 8), (512, 2)])
def test_hadamard_transforms(n, rows, dtype):
    torch.manual_seed(n + rows)
    x = torch.randint(-9, 10, (2 * rows, n))
    signs = torch.ones(1, 1, dtype=torch.int64)
    while len(signs) < n:
        signs = torch.kron(torch.tensor([[1, 1], [1, -1]]), signs)
    y = torch.full(x.shape, 77).to(dtype)
    hadamard[(2,)](x.to(dtype), y, n, n.bit_length() - 1, rows)
    exact = x.cpu() @ signs.cpu()  # torch multiplies integers on CPUs only
    torch.testing.assert_close(y.cpu(), exact.to(dtype))  # of integers modulo their width


@tileon.jit
def rotate(x, cosines, sines, o, D: tl.constexpr, R: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    at = row * D + tl.arange(0, D)[None, :]
    a, b = tl.split(tl.reshape(tl.load(x + at), (R, D // 2, 2)))
    half = row * (D // 2) + tl.arange(0, D // 2)[None, :]
    c, s = tl.load(cosines + half), tl.load(sines + half)
    tl.store(o + at, tl.reshape(tl.join(a * c - b * s, a * s + b * c), (R, D)))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.float64])
@pytest.mark.parametrize(("d", "rows"), [(2, 1), (4, 3), (64, 8), (6, 2)])
def test_pairs_are_rotated(d, rows, dtype):
    x, c, s = (torch.randint(-99, 100, (2 * rows, size)).to(dtype) for size in (d, d // 2, d // 2))
    o = torch.full_like(x, 77)
    rotate[(2,)](x, c, s, o, d, rows)
    a, b = x[:, ::2], x[:, 1::2]
    torch.testing.assert_close(o, torch.stack((a * c - b * s, a * s + b * c), -1).view_as(x), rtol=0, atol=0)


@tileon.jit
def rounds_of_rows(x, factors, o, rounds, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    outer, middle, inner = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    at = (tl.program_id(0) * A + outer) * B * C + middle * C + inner
    value, factor = tl.load(x + at), tl.load(factors + middle * C + inner)
    for _ in range(rounds):
        changed = value * factor + tl.max(value, 2)[:, :, None] - tl.sum(value, 0)[None, :, :]
        value = changed.to(x.dtype.element_ty)  # sums and maxima of narrow integers are of 32 bits
    tl.store(o + at, value)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("shape", [(16, 1, 2), (8, 4, 4), (3, 2, 2), (5, 1, 4), (7, 3, 2), (4, 2, 5), (1, 1, 1), (33, 2, 1)])
def test_rounds_over_short_rows(shape, dtype):
    torch.manual_seed(sum(shape))
    x, factors = torch.randint(-9, 10, (2, *shape)).to(dtype), torch.randint(-3, 4, shape[1:]).to(dtype)
    o = torch.full_like(x, 77)
    rounds_of_rows[(2,)](x, factors, o, 3, *shape)
    for _ in range(3):
        x = x * factors + x.amax(3, keepdim=True) - x.sum(1, keepdim=True).to(dtype)
    torch.testing.assert_close(o, x)
