"""Sizes, strides and offsets meet 32-bit integers in loops and branches: upstream has them all in 32 bits."""

import pytest
import torch

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl


def rows_of_eight(*tensors):
    return tuple(t.tile((8,)).tile((-1,)) for t in tensors)


def run(application, x):
    y = torch.full((8,), -1, dtype=torch.int64, device=x.device)
    ninetoothed.make(rows_of_eight, application, (Tensor(1, other=float("-inf")), Tensor(1)))(x, y)
    return y[0].item()


def test_place_of_the_largest(device):
    def application(x, y):
        place = ntl.cast(0, ntl.int32)
        largest = ntl.cast(float("-inf"), ntl.float32)
        for i in range(x.shape[0]):
            here = ntl.max(x[i])
            place = ntl.argmax(x[i], 0) + i * 8 if here > largest else place
            largest = ntl.maximum(here, largest)
        y[0] = place

    x = torch.randn(101, device=device)
    assert run(application, x) == x.argmax().item()


def test_places_of_lanes(device):
    def application(x, y):
        last = ntl.full((8,), -1, ntl.int32)
        for i in range(x.shape[0]):
            last = ntl.where(x[i] > 0, i * 8 + ntl.arange(0, 8), last)
        y[0] = ntl.max(last)

    x = torch.randn(101, device=device)
    assert run(application, x) == (x > 0).nonzero().max().item()


@pytest.mark.parametrize("n, chosen", [(3, 3), (20, 100)])
def test_branches(n, chosen, device):
    def application(x, y):
        k = ntl.program_id(0)
        if x.source.shape[0] > 10:
            k = x.source.shape[0] * x.source.stride(0)
        limit = x.shape[0] if k == 0 else 0
        y[0] = k + limit + wider(k, x.source.shape[0])

    def wider(k, n):
        if n > 10:
            return ntl.cast(n, ntl.int32)
        return k + n

    x = torch.randn(5 * n, device=device)[::5]
    blocks = (n + 7) // 8
    assert run(application, x) == (n * 5 + n if n > 10 else blocks + n)


def test_variables_of_loops_keep_the_wider_type(device):
    def application(x, y):
        k = x.shape[0]
        for i in range(3):
            k = ntl.cast(i, ntl.int32)
        total = 0
        while k < x.shape[0]:
            k += 1
            total += k * x.source.stride(0)
        y[0] = total * 100 + k

    x = torch.randn(101, device=device)
    assert run(application, x) == sum(range(3, 14)) * 100 + 13


def test_large_numbers_stay_whole(device):
    def application(x, y):
        k = ntl.cast(7, ntl.int32)
        for i in range(x.shape[0]):
            k = k + x.source.shape[0] * 1000000000
        y[0] = k

    assert run(application, torch.randn(101, device=device)) == 7 + 13 * 101 * 1000000000


@pytest.mark.parametrize("types", [("float32", "float16"), ("int32", "float32"), ("int8", "int32")])
def test_other_types_may_not_meet(types, device):
    def application(x, y):
        k = ntl.cast(1, getattr(ntl, types[0]))
        for i in range(x.shape[0]):
            k = ntl.cast(2, getattr(ntl, types[1]))
        y[0] = k

    with pytest.raises(Error, match="the loop changes the type of `k`"):
        run(application, torch.randn(20, device=device))
