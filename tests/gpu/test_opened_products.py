"""Products in branches and in loops whose sums go on: loops on the block level, wherever they stand, and right."""

import pytest
import torch
from gpu import opened_programs as programs

from tilery import _native

DEVICES = [pytest.param("cuda", marks=pytest.mark.gpu)]
SIZES = [(300, 200, 200), (128, 128, 64), (257, 72, 8), (1, 8, 520), (64, 136, 0)]
TILES = [(128, 128, 64), (64, 64, 32), (16, 64, 64), (32, 128, 32)]


def factors(device, dtype, m, n, k):
    a, b = (torch.randn(*shape, device=device).to(dtype) for shape in ((m, k), (k, n)))
    return a, b, a.double() @ b.double(), a.double().abs() @ b.double().abs()


def near(found, exact, most):
    """Sums in f32, in any order: fewer than 2^11 additions, each with an error of 2^-24 of what is added up."""
    return bool(((found.double() - exact).abs() <= most * 2**-13 + 1e-6).all())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("tiles", TILES, ids=str)
@pytest.mark.parametrize("m, n, k", SIZES)
@pytest.mark.parametrize("kind", ["chosen", "resumed"])
def test_products_that_numbers_choose(kind, m, n, k, tiles, dtype, device):
    torch.manual_seed(m)
    (bm, bn, bk), rows = tiles, -(-m // tiles[0])
    a, b, product, most = factors(device, dtype, m, n, k)
    flags = (torch.arange(rows, device=device) + 1).remainder(3).to(torch.int32)
    times = flags.repeat_interleave(bm)[:m].double()[:, None]
    if kind == "chosen":
        c, exact = torch.full((m, n), float("nan"), device=device), product * (times != 0)
    else:
        c = torch.randn(m, n, device=device)
        exact, most = c.double() + times * product, c.double().abs() + times * most
    getattr(programs, kind)[(rows, -(-n // bn))](a, b, c, flags, m, n, k, BM=bm, BN=bn, BK=bk)
    assert near(c, exact, most)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("tiles", [(128, 64, 64), (64, 128, 32), (16, 128, 64), (32, 256, 32)], ids=str)
@pytest.mark.parametrize("m, n, k", [(300, 56, 200), (130, 64, 64), (1, 8, 40)])
def test_rows_of_persistent_programs(m, n, k, tiles, device):
    torch.manual_seed(n)
    bm, bn, bk = tiles
    a, b, product, _ = factors(device, torch.float16, m, n, k)
    flags = torch.arange(-(-m // bm), device=device).remainder(2).to(torch.int32)
    c = torch.full((m, n), float("nan"), device=device)
    programs.normalised[(2,)](a, b, c, flags, m, n, k, BM=bm, BN=bn, BK=bk)
    halves = torch.where(flags == 0, 0.5, 1.0).double().repeat_interleave(bm)[:m, None]
    torch.testing.assert_close(c.double(), product.softmax(1) * halves, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("tiles", [(128, 128, 64), (64, 64, 32), (128, 32, 16)], ids=str)
@pytest.mark.parametrize("h, w, c, f, r, s", [(14, 17, 64, 96, 3, 3), (9, 8, 24, 40, 1, 5), (5, 33, 8, 8, 2, 2)])
def test_convolutions_of_two_loops(h, w, c, f, r, s, tiles, device):
    torch.manual_seed(c)
    bm, bn, bk = tiles
    x = torch.randn(h, w, c, device=device).to(torch.bfloat16)
    filters = torch.randn(r, s, c, f, device=device).to(torch.bfloat16)
    p, q = h - r + 1, w - s + 1
    y = torch.full((p, q, f), float("nan"), device=device)
    programs.convolved[(-(-p * q // bm), -(-f // bn))](x, filters, y, h, w, c, f, R=r, S=s, BM=bm, BN=bn, BK=bk)
    pairs = ((x.double(), filters.double()), (x.double().abs(), filters.double().abs()))
    exact, most = (
        torch.nn.functional.conv2d(u.permute(2, 0, 1)[None], v.permute(3, 2, 0, 1))[0].permute(1, 2, 0) for u, v in pairs
    )
    assert near(y, exact, most)


@pytest.mark.parametrize("kind", ["chosen", "resumed", "normalised", "convolved"])
def test_they_are_blocks(kind):
    a = torch.empty(256, 256, dtype=torch.float16)
    c, flags = torch.empty(256, 256), torch.empty(2, dtype=torch.int32)
    numbers = (16, 18, 64, 64, 3, 3) if kind == "convolved" else (flags, 256, 256, 256)
    tiles = {"BM": 128, "BN": 128, "BK": 64}
    kernel = getattr(programs, kind)
    arguments = (a, a, c, *numbers)
    module = kernel.warmup(*arguments, grid=(2, 2), **tiles).module
    plan = _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan
    assert ": blocks consumers=" in plan, plan
