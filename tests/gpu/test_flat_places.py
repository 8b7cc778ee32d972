"""Elements numbered through, whose places quotients and remainders of sizes that the launch brings make: vectors that lie between
multiples of such a size are read as they lie, where it is positive; 0 // 0 and 0 % 0 are 0."""

import numpy
import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl

SHAPES = [(2, 3, 5, 16), (1, 4, 3, 64), (3, 2, 2, 48), (2, 3, 5, 7), (2, 16, 16, 1), (1, 1, 1, 128)]
on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


@tileon.jit
def turned(x, o, n, B, C, D, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d, b, c, a = i % D, i // D % B, i // (D * B) % C, i // (D * B * C)
    tl.store(o + i, tl.load(x + ((a * B + b) * C + c) * D + d, mask=i < n, other=0.0), mask=i < n)


@tileon.jit
def places(o, n, D, E, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, i // D * 1000 + i % D * 10 + (i % D + D * 2) % E, mask=i < n)


@tileon.jit
def added(idx, g, dw, n, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r, d = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    i = tl.load(idx + r, mask=r < n, other=0)
    v = tl.load(g + r[:, None] * D + d[None, :], mask=(r[:, None] < n) & (d[None, :] < D), other=0.0).to(dw.dtype.element_ty)
    tl.atomic_add(dw + i[:, None] * D + d[None, :], v, mask=(r[:, None] < n) & (d[None, :] < D))


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.float64], ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
@pytest.mark.parametrize("block", [1024, 512, 64])
def test_a_turned_copy(block, sizes, dtype, device):
    a, b, c, d = sizes
    x = torch.randint(-100, 100, (a, b, c, d)).to(dtype)
    o = torch.full((x.numel() + 64,), 77, dtype=dtype).to(device)
    turned[(-(-x.numel() // block),)](x.flatten().to(device), o, x.numel(), b, c, d, block)
    assert torch.equal(o[: x.numel()].cpu(), x.permute(0, 2, 1, 3).flatten()) and (o[x.numel() :] == 77).all()


@on_both
@pytest.mark.parametrize("sizes", [(16, 32), (0, 16), (16, 0), (0, 0), (-16, 16), (32, -32), (7, 16), (48, 5)], ids=str)
@pytest.mark.parametrize("block", [1024, 512])
def test_numbers_are_those_of_the_language(block, sizes, device):
    n, (d, e) = 1000, sizes
    o = torch.full((n + 24,), -7, dtype=torch.int32).to(device)
    places[(-(-n // block),)](o, n, d, e, block)

    def parts(x, by):  # C's, and 0 of 0
        quotient = numpy.trunc(x / by).astype(int) if by else 0 * x
        return quotient, x - quotient * by if by else 0 * x

    i = numpy.arange(n)
    quotient, rest = parts(i, d)
    exact = quotient * 1000 + rest * 10 + parts(rest + d * 2, e)[1]
    assert o[:n].tolist() == exact.tolist() and (o[n:] == -7).all()


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("rows, block", [(8, 128), (32, 64), (1, 256), (4, 16)])
@pytest.mark.parametrize("columns", [512, 100, 61])
def test_rows_are_added_where_an_index_says(columns, rows, block, dtype, device):
    n, kinds = 45, 7
    idx, g = torch.randint(0, kinds, (n,), dtype=torch.int32), torch.randint(-4, 5, (n, columns)).to(torch.bfloat16)
    dw = torch.zeros(kinds + 1, columns, dtype=dtype).to(device)
    added[(-(-n // rows), -(-columns // block))](idx.to(device), g.to(device), dw, n, columns, rows, block)
    exact = torch.zeros(kinds + 1, columns, dtype=torch.float64).index_add(0, idx, g.double())
    assert torch.equal(dw.cpu().double(), exact)


def test_vectors_are_read_and_added():
    def ptx(function, *arguments):
        module = function.warmup(*arguments, grid=(8, 8)).module
        return _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm

    x = torch.zeros(8192, dtype=torch.bfloat16)
    assert "ld.global.v4.b32" in ptx(turned, x, x, 8192, 16, 32, 64, 1024)
    assert "ld.global.v4.b32" not in ptx(turned, x, x, 8192, 16, 32, 63, 1024)
    rows = ptx(added, torch.zeros(64, dtype=torch.int32), x, x.float(), 64, 512, 8, 128)
    assert rows.count(".global.add.v4.f32") == 2 and "atom." not in rows


@tileon.jit
def kept(x, o, n, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    number = tl.load(x + i) * 0 + i // D % 7
    for _ in range(0, n):  # what a loop carries is stored: quotients of it are, too
        number = (number + i) // D % 7
    tl.store(o + i, number * 1000 + tl.sum(number, 0))
    tl.store(o + BLOCK + i, i // D % 7 * 10 + tl.max(i // D % 7, 0))


@on_both
@pytest.mark.parametrize("size", [16, 24, 48, 64])
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_quotients_that_are_kept(turns, size, device):
    i = numpy.arange(1024)
    number = first = i // size % 7
    for _ in range(turns):
        number = (number + i) // size % 7
    o = torch.full((2048,), -7, dtype=torch.int32).to(device)
    kept[(1,)](torch.ones(1024, dtype=torch.int32).to(device), o, turns, size, 1024)
    assert o.tolist() == [*(number * 1000 + number.sum()).tolist(), *(first * 10 + first.max()).tolist()]
