"""Pooling, batched matmul and a gated activation, as libraries arrange them. By the oracle and by machine code."""

import pytest
import torch
import torch.nn.functional as F
from language.products import factor

from tilery import ninetoothed
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl

pytestmark = pytest.mark.usefixtures("engine")

UNIT = 2.0**-24 * 1.01  # of float32, with what is of second order


def poisoned(*shape):
    return torch.full(shape, float("nan"))


@pytest.mark.parametrize("shape", [(2, 3, 8, 10), (1, 5, 7, 3), (1, 1, 1, 1)])
def test_average_pooling(shape):
    def arrangement(x, y, BLOCK=Symbol("BLOCK", meta=True)):
        x = x.tile((1, 1, 2, 2), strides=(-1, -1, 2, 2))
        y = y.tile((1, 1, 1, 1))
        return tuple(t.ravel().flatten(end_dim=4).flatten(start_dim=1).tile((BLOCK, -1)) for t in (x, y))

    def application(x, y):
        y = ntl.sum(x, axis=1)[:, None] / 4

    n, c, h, w = shape
    x, y = torch.randn(shape), poisoned(n, c, (h + 1) // 2, (w + 1) // 2)
    ninetoothed.make(arrangement, application, (Tensor(4), Tensor(4)))(x, y)
    padded = F.pad(x.double(), (0, w % 2, 0, h % 2))  # what a window has beyond the tensor is 0
    # Three sums are rounded, the division by 4 is exact.
    assert ((y.double() - F.avg_pool2d(padded, 2)).abs() <= 3 * UNIT * F.avg_pool2d(padded.abs(), 2)).all()


@pytest.mark.parametrize("batch, m, n, k", [(3, 70, 50, 90), (1, 64, 32, 32), (2, 1, 3, 1)])
def test_batched_matmul_with_leaky_relu(batch, m, n, k):
    def arrangement(a, b, c, BM=Symbol("BM", meta=True), BN=Symbol("BN", meta=True), BK=Symbol("BK", meta=True)):
        c_tiles = c.tile((1, BM, BN))
        c_tiles.dtype = c_tiles.dtype.squeeze(0)
        a_tiles = a.tile((1, BM, BK)).tile((1, 1, -1)).expand((-1, -1, c_tiles.shape[2]))
        a_tiles.dtype = a_tiles.dtype.squeeze((0, 1))
        a_tiles.dtype.dtype = a_tiles.dtype.dtype.squeeze(0)
        b_tiles = b.tile((1, BK, BN)).tile((1, -1, 1)).expand((-1, c_tiles.shape[1], -1))
        b_tiles.dtype = b_tiles.dtype.squeeze((0, 2))
        b_tiles.dtype.dtype = b_tiles.dtype.dtype.squeeze(0)
        return a_tiles, b_tiles, c_tiles

    def application(a, b, c):
        accumulator = ntl.zeros(c.shape, dtype=ntl.float32)
        for i in range(a.shape[0]):
            accumulator += ntl.dot(a[i], b[i])
        c = ntl.where(accumulator > 0, accumulator, accumulator * 0.1)

    a, b, c = torch.randn(batch, m, k), torch.randn(batch, k, n), poisoned(batch, m, n)
    ninetoothed.make(arrangement, application, (Tensor(3), Tensor(3), Tensor(3)))(a, b, c, BM=32, BN=16, BK=32)
    # k products and sums are rounded, then the slope 0.1 and the product with it; leaky ReLU adds nothing to the error before it.
    bound = (k + 2) * UNIT * (a.double().abs() @ b.double().abs())
    assert ((c.double() - F.leaky_relu(factor(a) @ factor(b), 0.1)).abs() <= bound).all()


@pytest.mark.parametrize("rows, columns", [(5, 300), (1, 1), (3, 128)])
def test_swiglu(rows, columns):
    block = Symbol("BLOCK", constexpr=True)

    @ninetoothed.jit
    def swiglu(a: Tensor(2).tile((1, block)), b: Tensor(2).tile((1, block)), out: Tensor(2).tile((1, block))):
        x = ntl.cast(a, ntl.float32)
        out = x * ntl.sigmoid(x) * b

    a, b = (3 * torch.randn(rows, columns)).bfloat16(), torch.randn(rows, columns).bfloat16()
    out = poisoned(rows, columns)
    swiglu(a, b, out, BLOCK=128)
    # exp is off by two units in the last place at most (4 * 2^-24); sum, division and two products are rounded.
    torch.testing.assert_close(out.double(), F.silu(a.double()) * b.double(), rtol=8 * UNIT, atol=0)
