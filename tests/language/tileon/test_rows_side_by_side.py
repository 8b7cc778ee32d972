"""Windows whose rows share their weights: some are computed at once where all exist and none is stored over another."""

import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def planes(x, w, y, C, H, W, K: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    plane = tl.program_id(0)
    row = tl.program_id(1) * BH + tl.arange(0, BH)[:, None]
    column = tl.program_id(2) * BW + tl.arange(0, BW)[None, :]
    total = tl.zeros((BH, BW), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            r, c = row + i - K // 2, column + j - K // 2
            weight = tl.load(w + (plane % C * K + i) * K + j).to(tl.float32)
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W)
            total += weight * tl.load(x + plane * H * W + r * W + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + plane * H * W + row * W + column, total, mask=(row < H) & (column < W))


@tileon.jit
def channels_last(x, w, y, C, H, W, K: tl.constexpr, BW: tl.constexpr, BC: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BW + tl.arange(0, BW)
    channel = tl.program_id(2) * BC + tl.arange(0, BC)
    total = tl.zeros((BW, BC), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            r, c = row % H + i - K // 2, column + j - K // 2
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W)
            weight = tl.load(w + (i * K + j) * C + channel, mask=channel < C, other=0.0).to(tl.float32)
            place = ((row // H * H + r) * W + c)[:, None] * C + channel[None, :]
            value = tl.load(x + place, mask=inside[:, None] & (channel < C)[None, :], other=0.0)
            total += weight[None, :] * value.to(tl.float32)
    tl.store(y + (row * W + column)[:, None] * C + channel[None, :], total, mask=(column < W)[:, None] & (channel < C)[None, :])


@tileon.jit
def sums_of_rows(x, w, y, rows, columns, read, written, R: tl.constexpr, B: tl.constexpr):
    """Rows `read` and `written` elements apart."""
    row, column = tl.arange(0, R)[:, None], tl.arange(0, B)[None, :]
    inside = (row < rows) & (column < columns)
    total = tl.load(y + row * written + column, mask=inside, other=0.0)
    for k in tl.static_range(5):
        total += tl.load(w + k * B + column) * tl.load(x + (row + k) * read + column, mask=inside, other=0.0)
    tl.store(y + row * written + column, total, mask=inside)


def surrounded(x):
    """The same elements in memory whose rest is NaN."""
    memory = torch.full((x.numel() + 4096,), float("nan"), dtype=x.dtype)
    inner = memory[2048:-2048]
    inner.copy_(x.reshape(-1))
    return inner.view(x.shape)


def check(y, x, w, K, C):
    exact = F.conv2d(x.double(), w.double(), padding=K // 2, groups=C)
    sizes = F.conv2d(x.double().abs(), w.double().abs(), padding=K // 2, groups=C)
    rounding = torch.finfo(y.dtype).eps / 2 if y.dtype != torch.float32 else 0.0
    assert ((y.double() - exact).abs() <= sizes * K * K * 2.0**-23 + exact.abs() * rounding * 1.01).all()


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("H, W, BH, BW", [(13, 21, 8, 32), (6, 40, 8, 16), (9, 16, 16, 16), (1, 3, 4, 16), (19, 70, 8, 64)])
@pytest.mark.parametrize("K", [3, 5])
def test_planes(K, H, W, BH, BW, dtype):
    C = 3
    x, w = torch.randn(2, C, H, W).to(dtype), torch.randn(C, 1, K, K).to(dtype)
    y = surrounded(torch.full_like(x, float("nan")))
    planes[(2 * C, -(-H // BH), -(-W // BW))](surrounded(x), w, y, C, H, W, K, BH, BW)
    check(y, x, w, K, C)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("H, W, C, BW, BC", [(7, 13, 20, 8, 32), (5, 18, 35, 16, 16), (3, 4, 16, 4, 16), (2, 1, 5, 8, 16)])
@pytest.mark.parametrize("K", [3, 5])
def test_channels_last(K, H, W, C, BW, BC, dtype):
    x, w = torch.randn(2, H, W, C).to(dtype), torch.randn(K, K, C).to(dtype)
    y = surrounded(torch.full_like(x, float("nan")))
    channels_last[(2 * H, -(-W // BW), -(-C // BC))](surrounded(x), w, y, C, H, W, K, BW, BC)
    check(y.permute(0, 3, 1, 2), x.permute(0, 3, 1, 2), w.permute(2, 0, 1)[:, None], K, C)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 7, 16])
@pytest.mark.parametrize("columns", [0, 1, 16, 30, 32])
@pytest.mark.parametrize("read, written", [(32, 32), (0, 32), (1, 40), (-33, 32), (32, 0), (32, 1), (32, 29), (32, -31), (0, 0)])
def test_rows_that_overlap(rows, columns, read, written):
    """A place that several rows are stored to has what the last one of them computed."""
    x, w = torch.randn(2048), torch.randn(5, 32)
    start, y = torch.randn(2048), torch.full((2048,), float("nan"))
    y.copy_(start)
    sums_of_rows[(1,)](x[1024:], w, y[1024:], rows, columns, read, written, 16, 32)
    expected, size = start.double(), start.double().abs()
    for row in range(rows):
        at, to = slice(1024 + row * written, 1024 + row * written + columns), []
        for k in range(5):
            first = 1024 + (row + k) * read
            to.append(w[k, :columns].double() * x[first : first + columns].double())
        expected[at] = start[at].double() + sum(to)
        size[at] = start[at].double().abs() + sum(value.abs() for value in to)
    assert ((y.double() - expected).abs() <= size * 6 * 2.0**-23).all()


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("shift", [-1, 0, 1, 31, 32, 33, 128])
def test_arguments_that_overlap(shift):
    """A tile is read before any of it is written."""
    memory, w = torch.randn(2048), torch.randn(5, 32)
    before = memory.double()
    sums_of_rows[(1,)](memory[512:], w, memory[512 + shift :], 16, 32, 32, 32, 16, 32)
    windows = before[512 : 512 + 20 * 32].view(20, 32)
    old = before[512 + shift : 512 + shift + 512].view(16, 32)
    products = [w[k].double() * windows[k : k + 16] for k in range(5)]
    size = old.abs() + sum(product.abs() for product in products)
    result = memory[512 + shift : 512 + shift + 512].view(16, 32).double()
    assert ((result - (old + sum(products))).abs() <= size * 6 * 2.0**-23).all()
