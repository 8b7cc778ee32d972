"""Loops of plain arithmetic, whose carried tiles CPUs keep in registers for a few elements at a time: windows of images at ragged
sizes, several carried tiles, scalars beside them, no rounds at all, and loops that must stay as they are. Against float64."""

import pytest
import torch
from language.bounds import UNITS, narrowed, within

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def depthwise(x, w, o, H, W, OH, OW, C, KH, KW, stride, P: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    plane = tl.program_id(0)
    row = tl.program_id(1) * BH + tl.arange(0, BH)[:, None]
    column = tl.program_id(2) * BW + tl.arange(0, BW)[None, :]
    acc = tl.zeros((BH, BW), tl.float32)
    for kh in range(KH):
        for kw in range(KW):
            y, z = row * stride + kh - P, column * stride + kw - P
            inside = (y >= 0) & (y < H) & (z >= 0) & (z < W)
            value = tl.load(x + (plane * H + y) * W + z, mask=inside, other=0.0).to(tl.float32)
            acc += value * tl.load(w + (plane % C * KH + kh) * KW + kw).to(tl.float32)
    tl.store(o + (plane * OH + row) * OW + column, acc.to(o.dtype.element_ty), mask=(row < OH) & (column < OW))


@tileon.jit
def depthwise_last(
    x, w, o, H, W, OH, OW, C, KH: tl.constexpr, KW: tl.constexpr, stride, P: tl.constexpr, BW: tl.constexpr, BC: tl.constexpr
):
    line = tl.program_id(0)
    image, row = line // OH, line % OH
    column = tl.program_id(1) * BW + tl.arange(0, BW)[:, None]
    channel = tl.program_id(2) * BC + tl.arange(0, BC)[None, :]
    acc = tl.zeros((BW, BC), tl.float32)
    for k in range(KH * KW):
        y, z = row * stride + k // KW - P, column * stride + k % KW - P
        inside = (y >= 0) & (y < H) & (z >= 0) & (z < W) & (channel < C)
        value = tl.load(x + ((image * H + y) * W + z) * C + channel, mask=inside, other=0.0).to(tl.float32)
        acc += value * tl.load(w + k * C + channel, mask=channel < C, other=0.0).to(tl.float32)
    tl.store(o + (line * OW + column) * C + channel, acc.to(o.dtype.element_ty), mask=(column < OW) & (channel < C))


def windows(x, w, stride, padding):
    """The convolution of each channel by itself, with a bound: a sum of the window's products."""
    exact = torch.nn.functional.conv2d(x.double(), w.double(), stride=stride, padding=padding, groups=x.shape[1])
    sizes = torch.nn.functional.conv2d(x.double().abs(), w.double().abs(), stride=stride, padding=padding, groups=x.shape[1])
    return narrowed(exact, (w[0].numel() + 1) * UNITS[torch.float32] * sizes, x.dtype)


SHAPES = [  # images, channels, height, width, window, stride, padding
    (2, 3, 13, 37, (3, 3), 1, 1),
    (1, 2, 1, 1, (3, 3), 1, 1),
    (1, 1, 20, 70, (7, 7), 1, 3),
    (1, 2, 9, 40, (1, 5), 1, 0),
    (1, 3, 17, 33, (3, 3), 2, 1),
]


def images(shape, blocks, dtype):
    """Images, weights of each channel, and what `windows` makes of them."""
    n, c, h, w, window, stride, padding = shape
    torch.manual_seed(sum(blocks))
    x, weight = torch.randn(n, c, h, w).to(dtype), torch.randn(c, 1, *window).to(dtype)
    return x, weight, windows(x, weight, stride, padding)


@pytest.mark.parametrize(
    ("blocks", "dtype"),
    [
        ((8, 64), torch.float32),
        ((1, 64), torch.bfloat16),
        ((16, 16), torch.float16),
        ((1, 1), torch.float32),
        ((3, 20), torch.float32),
    ],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_windows_of_images(shape, blocks, dtype):
    n, c, h, w, window, stride, padding = shape
    x, weight, wanted = images(shape, blocks, dtype)
    o = torch.full(wanted[0].shape, float("nan"), dtype=dtype)
    oh, ow = o.shape[2:]
    grid = n * c, tileon.cdiv(oh, blocks[0]), tileon.cdiv(ow, blocks[1])
    depthwise[grid](x, weight, o, h, w, oh, ow, c, *window, stride, P=padding, BH=blocks[0], BW=blocks[1])
    within(o, wanted)


@pytest.mark.parametrize(("blocks", "dtype"), [((8, 64), torch.bfloat16), ((16, 8), torch.float32), ((4, 1), torch.float32)])
@pytest.mark.parametrize("shape", SHAPES)
def test_windows_of_channels_last(shape, blocks, dtype):
    n, c, h, w, window, stride, padding = shape
    x, weight, wanted = images(shape, blocks, dtype)
    oh, ow = wanted[0].shape[2:]
    o = torch.full((n, oh, ow, c), float("nan"), dtype=dtype)
    grid = n * oh, tileon.cdiv(ow, blocks[0]), tileon.cdiv(c, blocks[1])
    last, taps = x.permute(0, 2, 3, 1).contiguous(), weight[:, 0].permute(1, 2, 0).contiguous()
    depthwise_last[grid](last, taps, o, h, w, oh, ow, c, *window, stride, P=padding, BW=blocks[0], BC=blocks[1])
    within(o.permute(0, 3, 1, 2), wanted)


@tileon.jit
def escape(x, y, o, rounds, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    a, b = tl.load(x + at, mask=at < n, other=0.0), tl.load(y + at, mask=at < n, other=0.0)
    u, v, count = a, b, tl.zeros((B,), tl.int32)
    for _ in range(rounds):
        inside = u * u + v * v < 4.0
        count += inside.to(tl.int32)
        u, v = tl.where(inside, u * u - v * v + a, u), tl.where(inside, 2.0 * u * v + b, v)
    tl.store(o + at, count, mask=at < n)


@pytest.mark.parametrize("rounds", [0, 1, 40])
@pytest.mark.parametrize(("n", "block"), [(1, 64), (1000, 256), (77, 8)])
def test_several_tiles_are_carried(n, block, rounds):
    """Numbers that multiples of 2^-6 and few rounds keep exact, or nearly so: counts as float64 has them but at the border."""
    torch.manual_seed(n)
    x, y = (torch.rand(2, n) * 4 - 2.5).float()
    o = torch.full((n,), -1, dtype=torch.int32)
    escape[(tileon.cdiv(n, block),)](x, y, o, rounds, n, B=block)
    a, b = x.double(), y.double()
    u, v, count, near = a.clone(), b.clone(), torch.zeros(n, dtype=torch.int32), torch.zeros(n, dtype=torch.bool)
    error = torch.zeros(n, dtype=torch.float64)
    for _ in range(rounds):
        size = u * u + v * v
        inside = size < 4
        near |= (size - 4).abs() <= 2 * size.sqrt() * error + 4 * UNITS[torch.float32] * size
        count += inside.int()
        error = torch.where(inside, 3 * size.sqrt() * error + error**2 + 8 * UNITS[torch.float32] * (size + 4), error)
        u, v = torch.where(inside, u * u - v * v + a, u), torch.where(inside, 2 * u * v + b, v)
    assert rounds < 2 or near.sum() <= 0.5 * n
    torch.testing.assert_close(o[~near], count[~near], rtol=0, atol=0)


@tileon.jit
def mirrored(x, o, rounds, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(x + at)
    for _ in range(rounds):
        value = value + tl.flip(value, 0) * 2
    tl.store(o + at, value)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_tiles_read_elsewhere_stay_whole(rounds):
    x = torch.randint(-9, 10, (3, 32), dtype=torch.int32)
    o = torch.zeros_like(x)
    mirrored[(3,)](x, o, rounds, N=32)
    for _ in range(rounds):
        x = x + x.flip(1) * 2
    torch.testing.assert_close(o, x)


@tileon.jit
def moving(x, o, n, steps: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    place, total = 0, tl.zeros((B,), tl.int64)
    for step in range(steps):
        place += step
        total += tl.load(x + at + place, mask=at + place < n, other=0).to(tl.int64) << step
    tl.store(o + at, total, mask=at < n)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8])
@pytest.mark.parametrize(("n", "block"), [(200, 64), (33, 16), (5, 32)])
def test_scalars_are_carried_beside_tiles(n, block, dtype):
    x = torch.randint(0, 100, (n,)).to(dtype)
    o = torch.full((n,), -1, dtype=torch.int64)
    moving[(tileon.cdiv(n, block),)](x, o, n, steps=6, B=block)
    wanted, place = torch.zeros(n, dtype=torch.int64), 0
    for step in range(6):
        place += step
        wanted[: max(n - place, 0)] += x[place:].long() << step
    torch.testing.assert_close(o, wanted)


@tileon.jit
def squares_of_columns(x, o, M, N, R: tl.constexpr, C: tl.constexpr):
    column = tl.program_id(0) * C + tl.arange(0, C)
    acc = tl.zeros((R, C), tl.float32)
    for start in range(0, M, R):
        row = start + tl.arange(0, R)
        v = tl.load(x + row[:, None] * N + column[None, :], mask=(row[:, None] < M) & (column[None, :] < N), other=0.0)
        acc += v * v
    tl.store(o + column, tl.sum(acc, 0), mask=column < N)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("rows, columns", [(1, 128), (2, 256), (4, 64), (8, 64), (16, 256), (32, 32), (16, 40), (6, 64)])
@pytest.mark.parametrize("shape", [(203, 333), (64, 256), (1, 1), (17, 64)])
def test_a_loop_that_counts_by_whole_tiles(rows, columns, shape):
    """Blocks are four vectors wide before they are several rows high; masks hold for each of them."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(rows))
    o = torch.full((shape[1],), float("nan"))
    squares_of_columns[(tileon.cdiv(shape[1], columns),)](x, o, *shape, R=rows, C=columns)
    exact = (x.double() ** 2).sum(0)
    within(o, narrowed(exact, (shape[0] + 1) * UNITS[torch.float32] * exact, torch.float32))
