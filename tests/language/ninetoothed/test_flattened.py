"""Arguments that are flattened first: dimensions that are one in memory, tiles that stay within a row, and neither."""

import functools

import pytest
import torch

from tilery import ninetoothed
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl


def add(x, y, z):
    z = x + y  # noqa: F841


@functools.cache
def adding(rank, block):
    def arrangement(*tensors):
        return tuple(t.flatten().tile((block,)) for t in tensors)

    return ninetoothed.make(arrangement, add, tuple(Tensor(rank) for _ in range(3)))


# Of these shapes (4, 6, 16): whole, or with rows of 16 or 96 that tiles of 8 divide and those of 5 do not.
LAYOUTS = {
    "dense": lambda x: x,
    "row": lambda x: x[:1, :1].expand_as(x),
    "column": lambda x: x[..., :1].expand_as(x),
    "middle": lambda x: x[:1, :, :1].expand_as(x),
    "number": lambda x: x[:1, :1, :1].expand_as(x),
    "transposed": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "reversed": lambda x: x.permute(2, 1, 0).contiguous().permute(2, 1, 0),
    "wider": lambda x: torch.cat([x, x], 2)[..., :16],
    "taller": lambda x: torch.cat([x, x], 1)[:, :6],
    "apart": lambda x: torch.stack([x, x], 3)[..., 0],
}


@pytest.mark.pairs
@pytest.mark.parametrize("block", [8, 5, 16, 32, 128])
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", ["dense", "column", "transposed", "wider"])
def test_every_layout(left, right, block, device):
    x, y = (LAYOUTS[layout](torch.randn(4, 6, 16, device=device)) for layout in (left, right))
    z = LAYOUTS["transposed" if left == "reversed" else "dense"](torch.full((4, 6, 16), torch.nan, device=device))
    adding(3, block)(x, y, z)
    assert torch.equal(z, x + y)


@pytest.mark.parametrize("shape", [(1, 1), (0, 8), (8, 0), (1, 24), (24, 1), (3, 8)])
def test_sizes_of_none_and_one(shape, device):
    x = torch.randn(shape[1], shape[0], device=device).T
    y = torch.randn(1, shape[1], device=device).expand(shape)
    z = torch.full(shape, torch.nan, device=device)
    adding(2, 8)(x, y, z)
    assert torch.equal(z, x + y)


def test_one_kernel_meets_all_of_them_by_turns(device):
    for columns in (16, 12, 24, 16, 9):
        for row in (torch.randn(columns, device=device), torch.randn(1, device=device)):
            x, z = torch.randn(5, columns, device=device), torch.full((5, columns), torch.nan, device=device)
            adding(2, 4)(x, row.expand_as(x), z)
            assert torch.equal(z, x + row)


def total(x, y):
    sums = ntl.zeros(x.dtype.shape, dtype=ntl.float32)
    for i in range(x.shape[0]):
        sums += x[i]
    y = ntl.sum(sums)  # noqa: F841


@functools.cache
def summing(rank, dims, block):
    others = tuple(d for d in range(rank) if d not in dims)

    def arrangement(x, y):
        ones = (1,) * len(others)
        x = x.permute(others + dims).flatten(start_dim=len(others)).tile((*ones, block)).tile((*ones, -1)).squeeze(len(others))
        x.dtype = x.dtype.squeeze(tuple(range(len(others))))
        x.dtype.dtype = x.dtype.dtype.squeeze(tuple(range(len(others))))
        return x, y.tile(ones)

    return ninetoothed.make(arrangement, total, (Tensor(rank), Tensor(len(others))))


@pytest.mark.pairs
@pytest.mark.parametrize("dims", [(0, 2, 3), (2, 3), (3, 2), (0, 1), (1, 3), (0, 3), (1,)])
@pytest.mark.parametrize("block", [4, 16, 7])
@pytest.mark.parametrize("sliced", [False, True])
def test_sums_over_permuted_dimensions(dims, block, sliced, device):
    x = torch.randn(3, 5, 4, 8, device=device)
    if sliced:
        x = torch.cat([x, x], 2)[:, :, 1:5]
    wanted = x.double().sum(dims)
    y = torch.full(wanted.shape, torch.nan, device=device)
    summing(4, dims, block)(x, y)
    torch.testing.assert_close(y.double(), wanted, rtol=1e-5, atol=1e-5)


def test_indices_stay_those_of_the_source(device):
    def places(x, y):
        y = x.offsets(0) * 1000 + x.offsets(1) + 0 * x  # noqa: F841

    def arrangement(x, y):
        return x.flatten().tile((8,)), y.flatten().tile((8,))

    x = torch.randn(1, 16, device=device).expand(3, 16)
    y = torch.full((3, 16), torch.nan, device=device)
    ninetoothed.make(arrangement, places, (Tensor(2), Tensor(2)))(x, y)
    assert torch.equal(y, torch.arange(3, device=device)[:, None] * 1000.0 + torch.arange(16, device=device))
