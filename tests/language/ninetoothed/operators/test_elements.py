"""Operators that go element by element, move elements or count them."""

import math

import pytest
import torch
from language.ninetoothed.operators.arrangements import element_wise, make

from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.ninetoothed.language import libdevice


def silu(x, y):
    value = ntl.cast(x, ntl.float32)
    y = value * ntl.sigmoid(value)  # noqa: F841


def gelu(x, y):
    value = ntl.cast(x, ntl.float32)
    y = 0.5 * value * (1 + ntl.erf(value * 0.7071067811865476))  # noqa: F841


def softplus_tanh(x, y):
    value = ntl.cast(x, ntl.float32)
    y = value * libdevice.tanh(ntl.log(1 + ntl.exp(value)))  # noqa: F841


def clamp(x, y):
    y = ntl.clamp(ntl.cast(x, ntl.float32), -0.5, 0.25)  # noqa: F841


def threshold(x, y):
    y = ntl.where(x > 0.1, x, 20.0)  # noqa: F841


UNARY = {
    silu: torch.nn.functional.silu,
    gelu: torch.nn.functional.gelu,
    softplus_tanh: torch.nn.functional.mish,
    clamp: lambda x: x.clamp(-0.5, 0.25),
    threshold: lambda x: torch.nn.functional.threshold(x, 0.1, 20.0),
}
LAYOUTS = {
    "dense": lambda d: torch.randn(7, 33, device=d),
    "strided": lambda d: torch.randn(14, 70, device=d)[::2, 3::3],
    "transposed": lambda d: torch.randn(33, 7, device=d).T,
    "expanded": lambda d: torch.randn(7, 1, device=d).expand(7, 33),
    "empty": lambda d: torch.randn(0, 33, device=d),
    "one": lambda d: torch.randn(1, 1, device=d),
}


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_unary(function, layout, device):
    x = LAYOUTS[layout](device)
    y = torch.empty(x.shape, device=device)
    make(element_wise, function, (Tensor(2), Tensor(2)))(x, y)
    torch.testing.assert_close(y.double(), UNARY[function](x.double()), rtol=1e-5, atol=2e-6)


def add_scaled(x, y, alpha, z):
    z = x + alpha * y  # noqa: F841


SCALED = [(dtype, alpha) for dtype in (torch.float32, torch.float16, torch.int32) for alpha in (2, 1)]


@pytest.mark.parametrize("dtype, alpha", [*SCALED, (torch.float32, -0.5), (torch.float16, -0.5)])
def test_add_with_a_number(dtype, alpha, device):
    x = (torch.randn(5, 1, 37, device=device) * 10).to(dtype).expand(5, 4, 37)
    y = (torch.randn(5, 4, 37, device=device) * 10).to(dtype)
    z = torch.empty_like(y)
    make(element_wise, add_scaled, (Tensor(3), Tensor(3), Tensor(0), Tensor(3)))(x, y, alpha, z)
    torch.testing.assert_close(z, torch.add(x, y, alpha=alpha), rtol=2e-3, atol=2e-3)


def mask_out(x, mask, y):
    y = ntl.where(mask, float("-inf"), x)  # noqa: F841


def test_masked_fill(device):
    x = torch.randn(9, 21, device=device)
    mask, y = x > 0.3, torch.empty(9, 21, device=device)
    make(element_wise, mask_out, (Tensor(2), Tensor(2), Tensor(2)))(x, mask, y)
    assert torch.equal(y, x.masked_fill(mask, -math.inf))


def copy(x, y):
    y = x  # noqa: F841


@pytest.mark.parametrize("dim, index", [(0, 2), (1, 0), (1, 8), (0, -1)])
def test_select_copy(dim, index, device):
    x = torch.randn(5, 9, device=device)
    size = x.shape[1 - dim]
    y = torch.empty(size, device=device)

    def arrangement(x, y):
        x = x[index] if dim == 0 else x[:, index]
        return x.tile((4,)), y.tile((4,))

    make(arrangement, copy, (Tensor(2), Tensor(1)))(x, y)
    assert torch.equal(y, x.select(dim, index))


def stack_two(x, y, z):
    z[0] = x
    z[1] = y


@pytest.mark.parametrize("shape", [(5, 9), (1, 1), (0, 4)])
def test_stack(shape, device):
    x, y = torch.randn(shape, device=device), torch.randn(shape, device=device).contiguous()
    z = torch.empty((2, *shape), device=device)

    def arrangement(x, y, z):
        z = z.flatten(1).tile((1, 8)).tile((-1, 1)).squeeze(0)
        z.dtype = z.dtype.squeeze(1)
        z.dtype.dtype = z.dtype.dtype.squeeze(0)
        return x.flatten().tile((8,)), y.flatten().tile((8,)), z

    make(arrangement, stack_two, (Tensor(2), Tensor(2), Tensor(3)))(x, y, z)
    assert torch.equal(z, torch.stack((x, y)))


def flipped(x, y):
    y = ntl.flip(x, 0)  # noqa: F841


def test_rot90_by_arrangement_and_by_flip(device):
    x = torch.randn(5, 8, device=device)
    y = torch.empty(8, 5, device=device)
    make(
        lambda x, y: (x[:, ::-1].permute((1, 0)).tile((4, 4)), y.tile((4, 4))), copy, (Tensor(2), Tensor(2))
    )(x, y)
    assert torch.equal(y, torch.rot90(x))
    rows = torch.empty_like(x)

    def whole(t):
        t = t.tile((1, -1)).squeeze(1)
        t.dtype = t.dtype.squeeze(0)
        return t

    make(lambda x, y: (whole(x), whole(y)), flipped, (Tensor(2), Tensor(2)))(x, rows)
    assert torch.equal(rows, x.flip(1))


def count(x, y):
    ntl.atomic_add(y.source.data_ptr() + x, 1, mask=x.offsets(0) < x.source.shape[0])


@pytest.mark.parametrize("n", [1, 100, 4097])
def test_bincount(n, device):
    x = torch.randint(0, 20, (n,), device=device, dtype=torch.int32)
    y = torch.zeros(20, dtype=torch.int32, device=device)
    make(lambda x, y: (x.tile((64,)), y.tile((-1,)).squeeze(0)), count, (Tensor(1), Tensor(1)))(x, y)
    assert torch.equal(y.long(), x.long().bincount(minlength=20))


def look_up(index, table, y):
    y = table[index]  # noqa: F841


def test_embedding(device):
    index = torch.randint(0, 30, (11,), device=device)
    table, y = torch.randn(30, 18, device=device), torch.empty(11, 18, device=device)

    def arrangement(index, table, y):
        rows = table.tile((1, -1)).tile((-1, -1)).squeeze(0).expand((index.shape[0],))
        rows.dtype = rows.dtype.squeeze(1)
        rows.dtype.dtype = rows.dtype.dtype.squeeze(0)
        y = y.tile((1, -1)).squeeze(1)
        y.dtype = y.dtype.squeeze(0)
        return index.tile((1,)), rows, y

    make(arrangement, look_up, (Tensor(1), Tensor(2), Tensor(2)))(index, table, y)
    assert torch.equal(y, table[index])


def rotate(x, sin, cos):
    first, second = x[0], x[1]
    s, c = sin, cos
    x[0] = first * c - second * s
    x[1] = first * s + second * c


@pytest.mark.parametrize("interleaved", [True, False])
def test_rotary_in_place(interleaved, device):
    batch, length, heads, size = 2, 5, 3, 16
    x = torch.randn(batch, length, heads, size, device=device)
    angles = torch.randn(length, size // 2, device=device)
    sin, cos = angles.sin(), angles.cos()

    def arrangement(x, sin, cos):
        step = 2 if interleaved else 1
        half = size // 2
        tiles = x.tile((1, 1, 1, half), strides=(-1, -1, -1, 1) if interleaved else None, dilation=(1, 1, 1, step))
        tiles = tiles.tile((1, 1, 1, 2))
        tiles.dtype = tiles.dtype.squeeze((0, 1, 2))
        tiles.dtype.dtype = tiles.dtype.dtype.squeeze((0, 1, 2))

        def table(t):
            t = t.tile((1, -1)).unsqueeze(0).unsqueeze(2).expand((x.shape[0], -1, x.shape[2], -1))
            t.dtype = t.dtype.squeeze(0)
            return t

        return tiles, table(sin), table(cos)

    exact = x.double().clone()
    first, second = (exact[..., ::2], exact[..., 1::2]) if interleaved else exact.chunk(2, -1)
    s, c = sin.double()[None, :, None], cos.double()[None, :, None]
    rotated = (first * c - second * s, first * s + second * c)
    exact = torch.stack(rotated, -1).flatten(-2) if interleaved else torch.cat(rotated, -1)
    make(arrangement, rotate, (Tensor(4), Tensor(2), Tensor(2)))(x, sin, cos)
    torch.testing.assert_close(x.double(), exact, rtol=1e-5, atol=1e-5)
