"""Quotients and remainders that decide which element is taken or exists, not where it lies: triangles of flattened matrices, and
columns of rows that are numbered through. Rows from one element to several vectors, and tiles that end within them."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def triangle(x, out, count, size, width, diagonal, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The upper triangles of `count` matrices of `size` elements."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (row < count) & (col < size)
    v = tl.load(x + row * size + col, mask=mask, other=0.0)
    tl.store(out + row * size + col, tl.where(col // width + diagonal <= col % width, v, 0.0), mask=mask)


@pytest.mark.parametrize("width", [1, 7, 16, 64, 65, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_triangles(width, dtype, device):
    for rows, block, diagonal in ((1, 512, 0), (2, 128, 3), (1, 256, -2)):
        x = torch.randint(1, 100, (3, 5, width), device="cpu").to(dtype)
        out = torch.full((3, 5, width), 99, device="cpu").to(dtype).to(device)
        grid = (-(-3 // rows), -(-5 * width // block))
        triangle[grid](x.to(device), out, 3, 5 * width, width, diagonal, rows, block)
        assert torch.equal(out.cpu(), x.triu(diagonal)), (rows, block, diagonal)


@tileon.jit
def columns(x, y, out, n, width, low, high, BLOCK: tl.constexpr):
    """Of each row the columns from low to high come from x, others from y; the last column stays."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = i % width
    inside = (at >= low) & (at < high)
    a = tl.load(x + i, mask=(i < n) & inside, other=5)
    b = tl.load(y + i, mask=(i < n) & (at < high), other=7)
    tl.store(out + i, tl.where(inside, a, b), mask=(i < n) & (at != width - 1))


@pytest.mark.parametrize("width", [1, 3, 17, 64, 100, 333, 2000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_columns(width, dtype, device):
    for n, low, high in ((1000, 0, width), (1999, width // 3, width - width // 4), (257, 2, 1)):
        x, y = (torch.randint(-50, 50, (n,), device="cpu").to(dtype) for _ in range(2))
        at = torch.arange(n, device="cpu") % width
        inside = (at >= low) & (at < high)
        wanted = torch.where(inside, x, torch.where(at < high, y, torch.tensor(7, device="cpu").to(dtype)))
        wanted[at == width - 1] = 33
        out = torch.full((n + 40,), 33, device="cpu").to(dtype).to(device)
        columns[(-(-n // 512),)](x.to(device), y.to(device), out, n, width, low, high, 512)
        assert torch.equal(out[:n].cpu(), wanted), (n, low, high)
        assert bool((out[n:].cpu() == 33).all())
