"""Places that a condition chooses, in loads and stores whose mask says how, or does not: lanes that exist are where the program
says, and of memory nothing else is read, to the last byte of a page."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

from ..pages import at_the_end_of_a_page

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64]


@tileon.jit
def moved(x, out, n, shift, width, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    """Inside of x by the load's own mask, and by another one, whose lanes take x[1] elsewhere."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (at >= shift) & (at - shift < n)
    place = tl.where(inside, at - shift, 1)
    known = tl.load(x + place, mask=inside & (at % 5 != 2), other=OTHER)
    given = tl.load(x + place, mask=at % 3 != 1, other=OTHER)
    tl.store(out + tl.where(at < width, at, -7), known, mask=(at % 2 == 0) & (at < width))
    tl.store(out + width + at, given, mask=at < width)


@tileon.jit
def rows(x, out, M, N, stride, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    row, column = tl.where(i < M, i, 0), tl.where((j < N)[None, :], j[None, :], 0)
    value = tl.load(x + row[:, None] * stride + column, mask=(i < M)[:, None] & (j < N)[None, :], other=-1)
    both = tl.load(x + tl.where(i < M, i, M - 1)[:, None] * stride + column)
    tl.store(out + i[:, None] * N + j[None, :], value + both, mask=(i < M)[:, None] & (j < N)[None, :])


@tileon.jit
def taken(x, out, n, first, W: tl.constexpr, AHEAD: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    """Quotients of what may be negative, with and without a rest."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    number = at + AHEAD
    mask = (number // W < n) & (at >= first)
    mask = mask & (number % W == 0) & (number >= 0) if EVEN else mask & (number > -W)
    tl.store(out + at, tl.load(x + number // W, mask=mask, other=9))


@tileon.jit
def pooled_back(grad, indices, out, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, P: tl.constexpr, BH: tl.constexpr,
                BW: tl.constexpr):  # fmt: skip
    plane = tl.program_id(2)
    h, w = tl.program_id(0) * BH + tl.arange(0, BH)[:, None], tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    total = tl.zeros((BH, BW), tl.float32)
    for a in tl.static_range(K):
        for b in tl.static_range(K):
            y, x = h + P - a, w + P - b
            asked = (y % S == 0) & (x % S == 0)
            y, x = y // S, x // S
            asked = asked & (y >= 0) & (y < OH) & (x >= 0) & (x < OW)
            place = plane * OH * OW + tl.where(asked, y, 0) * OW + tl.where(asked, x, 0)
            here = tl.load(indices + place, mask=asked, other=-1) == h * W + w
            total += tl.load(grad + place, mask=here, other=0.0)
    tl.store(out + plane * H * W + h * W + w, total, mask=(h < H) & (w < W))


def guarded(values, device):
    return at_the_end_of_a_page(values) if device == "cpu" else (values.to(device), None)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("n, shift", [(2, 0), (17, 3), (100, 30), (300, 1)])
@pytest.mark.parametrize("dtype", TYPES)
def test_one_dimension(device, dtype, n, shift):
    x = torch.arange(n).remainder(101).to(dtype)
    memory = guarded(x, device)
    width = n + 2 * shift + 5
    out = torch.full((2 * width,), 77, dtype=dtype, device=device)
    moved[(-(-width // 64),)](memory[0], out, n, shift, width, 3, 64)
    at = torch.arange(width)
    inside = (at >= shift) & (at - shift < n)
    chosen = x[torch.where(inside, at - shift, 1)]
    known = torch.where(inside & (at % 5 != 2), chosen, torch.tensor(3, dtype=dtype))
    assert torch.equal(out[:width].cpu(), torch.where(at % 2 == 0, known, torch.tensor(77, dtype=dtype)))
    assert torch.equal(out[width:].cpu(), torch.where(at % 3 != 1, chosen, torch.tensor(3, dtype=dtype)))


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("M, N", [(1, 1), (5, 40), (16, 33), (19, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_rows(device, dtype, M, N):
    x = torch.randint(0, 50, (M, N + 3)).to(dtype)
    memory = guarded(x.flatten()[: (M - 1) * (N + 3) + N].clone(), device)
    out = torch.full((M, N), 77, dtype=dtype, device=device)
    rows[(-(-M // 8), -(-N // 32))](memory[0], out, M, N, N + 3, 8, 32)
    assert torch.equal(out.cpu(), 2 * x[:, :N])


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("W, ahead", [(2, -3), (2, -1), (2, 0), (2, 1), (3, -2), (4, 3), (4, -1), (8, 5), (8, -9)])
@pytest.mark.parametrize("dtype", TYPES)
def test_shared_places(device, dtype, W, ahead, even):
    for n, first in ((1, 0), (13, 0), (13, 9), (40, 1)):
        x = torch.arange(1, n + 1).to(dtype)
        memory = guarded(x, device)
        out = torch.full((256,), 77, dtype=dtype, device=device)
        taken[(2,)](memory[0], out, n, first, W, ahead, even, 128)
        number = torch.arange(256) + ahead
        place = number.div(W, rounding_mode="trunc")
        exists = (place < n) & (torch.arange(256) >= first)
        exists &= (number % W == 0) & (number >= 0) if even else number > -W
        wanted = torch.where(exists, x[torch.where(exists, place, 0)], torch.tensor(9, dtype=dtype))
        assert torch.equal(out.cpu(), wanted), (n, first)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("K, S, P", [(3, 2, 1), (2, 2, 0), (3, 1, 1), (5, 4, 2), (3, 3, 0)])
@pytest.mark.parametrize("H, W", [(5, 7), (16, 32), (21, 45)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_pooling(device, dtype, H, W, K, S, P):
    x = torch.randn(2, H, W)
    pooled, indices = torch.nn.functional.max_pool2d(x, K, S, P, return_indices=True)
    grad = torch.randn(pooled.shape).to(dtype)
    memory, places = guarded(grad.flatten(), device), guarded(indices.flatten(), device)
    out = torch.full((2, H, W), float("nan"), device=device)
    pooled_back[(-(-H // 4), -(-W // 32), 2)](memory[0], places[0], out, H, W, *pooled.shape[1:], K, S, P, 4, 32)
    exact = torch.zeros(2, H * W, dtype=torch.float64)
    exact.scatter_add_(1, indices.flatten(1), grad.double().flatten(1))
    sizes = torch.zeros(2, H * W, dtype=torch.float64).scatter_add_(1, indices.flatten(1), grad.double().abs().flatten(1))
    assert ((out.cpu().double().flatten(1) - exact).abs() <= sizes * K * K * 2.0**-24).all()
