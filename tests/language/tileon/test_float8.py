"""8-bit floats: every code, and every way to round to one."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

N = 1024
FORMATS = [(tl.float8e4nv, torch.float8_e4m3fn), (tl.float8e5, torch.float8_e5m2)]


@tileon.jit
def convert(x, y, n: tl.constexpr, to: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(y + i, tl.load(x + i).to(to))


@tileon.jit
def product(x, y, z, n: tl.constexpr):
    i = tl.arange(0, n)
    place = i[:, None] * n + i[None, :]
    tl.store(z + place, tl.dot(tl.load(x + place), tl.load(y + place)))


def same(got, expected):
    """Bit for bit, but for which NaN it is."""
    nan = torch.isnan(expected.float())
    assert torch.equal(torch.isnan(got.float()), nan)
    assert torch.equal(got.view(torch.uint8)[~nan], expected.view(torch.uint8)[~nan])


@pytest.mark.parametrize("name, dtype", FORMATS)
@pytest.mark.parametrize("wide, to", [(torch.float32, tl.float32), (torch.float16, tl.float16), (torch.float64, tl.float64)])
def test_every_code(engine, name, dtype, wide, to):
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype)
    y = torch.full((256,), 7.0, dtype=wide)
    convert[(1,)](x, y, 256, to)
    assert torch.equal(y.nan_to_num(nan=1e4), x.to(wide).nan_to_num(nan=1e4))
    assert torch.equal(y.signbit(), x.to(wide).signbit())


@pytest.mark.parametrize("name, dtype", FORMATS)
def test_rounding(engine, name, dtype):
    codes = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype).float().nan_to_num(nan=0, posinf=0, neginf=0)
    codes = codes.sort().values
    between = (codes[1:] + codes[:-1]) / 2  # ties
    near = torch.cat([torch.nextafter(between, between - 1), between, torch.nextafter(between, between + 1)])
    edges = torch.tensor([0.0, -0.0, float("nan"), 1e-30, -1e-44, 448, 464, 57344, 61440, 65536, -1e30])
    x = torch.cat([near, edges, torch.randn(4 * N) * torch.randn(4 * N).mul(6).exp()])
    x = torch.cat([x, torch.zeros(-len(x) % N)])
    y = torch.full((len(x),), 7.0).to(dtype)
    convert[(len(x) // N,)](x, y, N, name)
    finite = x.abs() < 57344 if dtype == torch.float8_e5m2 else x.abs() <= 464
    same(y[finite], x.to(dtype)[finite])


@pytest.mark.parametrize("name, dtype", FORMATS)
def test_product(name, dtype):
    x, y = (torch.randn(64, 64).to(dtype) for _ in range(2))
    z = torch.full((64, 64), 7.0)
    product[(1,)](x, y, z, 64)
    # A GPU's tensor cores keep 13 bits behind the leading one of the largest of 32 products and the sum: each step may lose one.
    lost = (64 / 32 + 2) * 2.0**-12 if z.is_cuda else 66 * 2.0**-24
    exact, size = x.double() @ y.double(), x.double().abs() @ y.double().abs()
    assert ((z.double() - exact).abs() <= lost * size).all()
