"""Operands with strides of the launch, as libraries of operators have them: 0 where they are broadcast, along rows or columns."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def combined(x, y, out, x0, x1, y0, y1, rows, width, other, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (i < rows) & (j < width)
    a = tl.load(x + i * x0 + j * x1, mask=mask & (j != 3), other=other)
    b = tl.load(y + i * y0 + j * y1, mask=mask, other=other)
    tl.store(out + i * width + j, a + b, mask=mask)


@tileon.jit
def of_blocks(x, out, x0, x1, rows, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    i, j = tl.program_id(0) * ROWS, tl.program_id(1) * BLOCK
    source = tl.make_block_ptr(x, (rows, width), (x0, x1), (i, j), (ROWS, BLOCK), (1, 0))
    target = tl.make_block_ptr(out, (rows, width), (width, 1), (i, j), (ROWS, BLOCK), (1, 0))
    v = tl.load(source, boundary_check=(0, 1))
    tl.store(target, v, boundary_check=(0, 1))


def operand(rows, width, strides, dtype):
    """A view of memory whose other elements are no numbers that may show."""
    size = (rows - 1) * strides[0] + (width - 1) * strides[1] + 1
    return torch.randint(1, 50, (size,), device="cpu").to(dtype), strides


# Strides of a view of `rows` times `width`.
STILL = {"columns": lambda rows, width: (1, 0), "all": lambda rows, width: (0, 0), "nothing": lambda rows, width: (2, rows * 2)}
LAYOUTS = STILL | {"none": lambda rows, width: (width, 1), "rows": lambda rows, width: (0, 1)}


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.int64])
@pytest.mark.parametrize("tile", [(1, 256), (4, 64), (16, 8)])
@pytest.mark.parametrize("rows, width", [(5, 300), (3, 17), (9, 64)])
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", STILL)
def test_broadcast_operands(dtype, tile, rows, width, first, second, device):
    first, second = LAYOUTS[first](rows, width), LAYOUTS[second](rows, width)
    x, y = operand(rows, width, first, dtype), operand(rows, width, second, dtype)
    a, b = (torch.as_strided(v, (rows, width), s).clone() for v, s in (x, y))
    a[:, 3] = 60
    out = torch.full((rows * width + 64,), 99, device="cpu").to(dtype).to(device)
    grid = (-(-rows // tile[0]), -(-width // tile[1]))
    combined[grid](x[0].to(device), y[0].to(device), out, *first, *second, rows, width, 60, *tile)
    assert torch.equal(out[: rows * width].cpu().view(rows, width), a + b)
    assert bool((out[rows * width :].cpu() == 99).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_block_pointers(dtype, device):
    for rows, width in ((5, 300), (3, 17)):
        for strides in ((width, 1), (1, 0), (0, 0), (1, rows)):
            x = operand(rows, width, strides, dtype)
            out = torch.full((rows, width), 99, device="cpu").to(dtype).to(device)
            of_blocks[(-(-rows // 2), -(-width // 128))](x[0].to(device), out, *strides, rows, width, 2, 128)
            assert torch.equal(out.cpu(), torch.as_strided(x[0], (rows, width), strides)), (rows, width, strides)
