"""Masks of flattened places (`rows * width + columns < n`), arguments of 0, masks that are loaded."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def means(out_ptr, x_ptr, rows, n, start, ROWS: tl.constexpr, WIDTH: tl.constexpr, MIRRORED: tl.constexpr):
    at = tl.program_id(0) * (ROWS * WIDTH) + tl.arange(0, ROWS)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    mask = n > at if MIRRORED else at < n
    total = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
    for i in range(rows):
        total += tl.load(x_ptr + start + i * n + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, total / rows, mask=mask)


@tileon.jit
def behind(out_ptr, first, n, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(out_ptr + at, at, mask=(at >= first) & (at <= n))


@tileon.jit
def cleared(flags_ptr, out_ptr, first, n, N: tl.constexpr):
    at = first + tl.arange(0, N)
    flags = tl.load(flags_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, 7, mask=flags != 0)


@pytest.mark.pairs
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("n", [2048, 1008, 1000, 1004, 1001, 8, 3])
@pytest.mark.parametrize("rows, width", [(128, 8), (512, 1), (1, 256), (64, 16), (16, 3 + 1)])
def test_means(device, rows, width, n, mirrored):
    generator = torch.Generator("cpu").manual_seed(3)
    for start in (0, 16, 5):
        x = torch.randn(3 * n + start, generator=generator, device="cpu").bfloat16()
        out = torch.full((n + 16,), 99.0, device=device)
        means[(-(-n // (rows * width)),)](out, x.to(device), 3, n, start, rows, width, mirrored)
        wanted = x[start:].view(3, n).float().mean(0)
        torch.testing.assert_close(out[:n].cpu(), wanted, rtol=1e-5, atol=1e-6)
        assert (out[n:] == 99).all()


@pytest.mark.parametrize("first, n", [(0, 31), (16, 47), (17, 32), (5, 48), (8, 0)])
def test_behind(device, first, n):
    out = torch.full((64,), -1, dtype=torch.int32, device=device)
    behind[(1,)](out, first, n, 8, 8)
    at = torch.arange(64, device="cpu")
    assert torch.equal(out.cpu().long(), torch.where((at >= first) & (at <= n), at, -1))


@pytest.mark.parametrize("first", [0, 1, 48])
@pytest.mark.parametrize("size", [64, 1024, 4096])
def test_cleared(device, size, first):
    n = first + size - 17
    flags = (torch.rand(n, generator=torch.Generator("cpu").manual_seed(4), device="cpu") < 0.5).to(torch.uint8)
    out = torch.zeros(first + size, dtype=torch.int8, device=device)
    cleared[(1,)](flags.to(device), out, first, n, size)
    wanted = torch.zeros(first + size, dtype=torch.int8, device="cpu")
    wanted[first:n] = flags[first:] * 7
    assert torch.equal(out.cpu(), wanted)
