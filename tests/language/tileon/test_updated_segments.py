"""Rows that are added where an index says, by flattened numbers of elements: segments of one quotient are updated as vectors,
the same elements in the same order as one by one."""

import re

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def add_rows(x, index, out, n, D, apart, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index + at // D, at < n, other=0)
    tl.atomic_add(out + row * apart + at % D, tl.load(x + at, at < n, other=0), at < n, sem="relaxed")


@tileon.jit
def add_where_inside(x, index, out, n, D, rows, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index + at // D, at < n, other=0)
    place = row * D + at % D
    tl.atomic_max(out + place, tl.load(x + at, at < n, other=0), (at < n) & (place >= D) & (place < rows * D), sem="relaxed")


@tileon.jit
def add_everywhere(x, out, n, D, BLOCK: tl.constexpr):
    """The rows of each column's sum are all there is: elements of one vector meet where `D` is shorter than it."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + at % D, tl.load(x + at, at < n, other=0), at < n, sem="relaxed")


DTYPES = [torch.float32, torch.int32, torch.float16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("D", [1, 5, 16, 23, 64, 300])
def test_rows(device, D, dtype):
    torch.manual_seed(D)
    rows, many = 9, 40
    x = torch.randint(-8, 8, (many, D), device="cpu").to(dtype).to(device)
    index = torch.randint(0, rows, (many,), device="cpu").to(device)
    for block in (64, 256):
        out = torch.ones(rows, D + 3, dtype=dtype, device=device)
        add_rows[(tileon.cdiv(many * D, block),)](x, index, out, many * D, D, D + 3, BLOCK=block)
        wanted = torch.ones_like(out)
        wanted[:, :D].index_add_(0, index, x)
        assert torch.equal(out, wanted)
        if dtype == torch.float16:
            continue
        out = torch.zeros(rows, D, dtype=dtype, device=device)
        add_where_inside[(tileon.cdiv(many * D, block),)](x, index, out, many * D, D, rows - 1, BLOCK=block)
        wanted = torch.zeros(rows, D, dtype=dtype, device=device).index_reduce_(0, index, x, "amax")
        wanted[0] = wanted[-1] = 0
        assert torch.equal(out, wanted)
        out = torch.zeros(D, dtype=dtype, device=device)
        add_everywhere[(tileon.cdiv(many * D, block),)](x, out, many * D, D, BLOCK=block)
        assert torch.equal(out, x.sum(0, dtype=dtype))


def test_segments_are_vectors(device):
    x, index, out = torch.rand(4, 64), torch.tensor([1, 0, 1, 1]), torch.zeros(2, 64)
    kernel = add_rows[(1,)](x, index, out, 256, 64, 64, BLOCK=256)
    wanted = torch.zeros(2, 64).index_add_(0, index, x)
    torch.testing.assert_close(out, wanted)
    if device == "cpu":  # a GPU's threads come in any order, each with elements of its own
        assert torch.equal(out, wanted), "added in the order of elements"
        assert re.search(r"fadd .*<\d+ x float>", kernel.asm["llvm"])
