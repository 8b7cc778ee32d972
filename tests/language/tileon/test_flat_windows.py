"""Windows around elements that are numbered through (`//`, `%`): unrolled and by loops; more comparisons than end segments."""

import re

import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def unrolled(x, w, o, n, C, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if LAST:
        c, column, row, image = at % C, at // C % OW, at // (C * OW) % OH, at // (C * OW * OH)
    else:
        column, row, c, image = at % OW, at // OW % OH, at // (OW * OH) % C, at // (OW * OH * C)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            r, q = row * STRIDE + i - K // 2, column * STRIDE + j - K // 2
            inside = (r >= 0) & (r < H) & (q >= 0) & (q < W) & (at < n)
            place = ((image * H + r) * W + q) * C + c if LAST else ((image * C + c) * H + r) * W + q
            weight = tl.load(w + c * K * K + i * K + j, mask=at < n, other=0.0).to(tl.float32)
            total += weight * tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(o + at, total.to(o.dtype.element_ty), mask=at < n)


@tileon.jit
def over_rounds(x, w, o, n, C, H, W, OH, OW, K, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if LAST:
        c, column, row, image = at % C, at // C % OW, at // (C * OW) % OH, at // (C * OW * OH)
    else:
        column, row, c, image = at % OW, at // OW % OH, at // (OW * OH) % C, at // (OW * OH * C)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(K):
        for j in range(K):
            r, q = row * STRIDE + i - K // 2, column * STRIDE + j - K // 2
            inside = (r >= 0) & (r < H) & (q >= 0) & (q < W) & (at < n)
            place = ((image * H + r) * W + q) * C + c if LAST else ((image * C + c) * H + r) * W + q
            weight = tl.load(w + c * K * K + i * K + j).to(tl.float32)
            total += weight * tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(o + at, total.to(o.dtype.element_ty), mask=at < n)


@tileon.jit
def looped(x, w, o, n, C, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    over_rounds(x, w, o, n, C, H, W, OH, OW, K, STRIDE, LAST, BLOCK)


@tileon.jit
def counted(x, w, o, n, C, H, W, OH, OW, K, STRIDE: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    over_rounds(x, w, o, n, C, H, W, OH, OW, K, STRIDE, LAST, BLOCK)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("C, last", [(3, False), (3, True), (21, True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size, stride", [((9, 37), 1), ((5, 16), 1), ((12, 7), 1), ((21, 70), 2)])
@pytest.mark.parametrize("kernel, window", [(unrolled, 3), (unrolled, 7), (looped, 3), (looped, 5), (counted, 5)])
def test_depthwise(device, kernel, window, size, stride, dtype, C, last):
    """Rows longer and shorter than vectors; behind the result and around the image is what nobody may write or take."""
    H, W = size
    around = torch.full((4096 + 2 * C * H * W + 4096,), float("nan"))
    x = torch.randn(2, C, H, W).to(dtype)
    w = torch.randn(C, 1, window, window).to(dtype)
    exact = F.conv2d(x.double(), w.double(), None, stride, window // 2, 1, C)
    sizes = F.conv2d(x.double().abs(), w.double().abs(), None, stride, window // 2, 1, C)
    memory = (x.permute(0, 2, 3, 1) if last else x).flatten()
    around[4096:-4096] = memory.float()
    around = around.to(dtype).to(device)
    n = exact.numel()
    out = torch.full((n + 64,), -77.0, dtype=dtype, device=device)
    OH, OW = exact.shape[2:]
    launch = (around[4096:-4096], w.to(device), out, n, C, H, W, OH, OW)
    kernel[(-(-n // 256),)](*launch, window, stride, last, 256)
    assert (out[n:] == -77.0).all()
    found = out[:n].cpu().double()
    found = found.view(2, OH, OW, C).permute(0, 3, 1, 2) if last else found.view_as(exact)
    bound = sizes * window**2 * 2.0**-23 + exact.abs() * (2.0**-8 if dtype == torch.bfloat16 else 0) + 1e-30
    assert ((found - exact).abs() <= bound).all()


@tileon.jit
def marked(x, o, n, WIDTH: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = tl.arange(0, BLOCK).to(tl.int64) * STEP
    value = tl.load(x + at // WIDTH * WIDTH + at % WIDTH, mask=at < n, other=0.0)
    for i in tl.static_range(6):
        value += tl.where(far < 9 * STEP + i * (7 * STEP + 1), 1.0, 0.0)
    tl.store(o + at, value, mask=at < n)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("step", [1, 3, 1 << 20, 1 << 28, 1 << 33])
def test_comparisons_of_numbers_that_grow_fast(device, step):
    """Sixteen steps of them leave 32 bits."""
    width, rows = 53, 7
    n = width * rows
    x, out = torch.randn(n), torch.full((n + 16,), -77.0, device=device)
    marked[(-(-n // 256),)](x.to(device), out, n, width, step, 256)
    far = torch.arange(n) % 256 * step
    expected = x.clone()
    for i in range(6):
        expected += (far < 9 * step + i * (7 * step + 1)).float()
    assert torch.equal(out[:n].cpu(), expected) and (out[n:] == -77.0).all()


@pytest.mark.parametrize("kernel", [looped, counted, unrolled])
def test_channels_are_vectors(device, kernel):
    x, w, o = torch.randn(1, 8, 8, 32), torch.randn(32, 1, 7, 7), torch.empty(1, 8, 8, 32)
    found = kernel[(2,)](x, w, o, o.numel(), 32, 8, 8, 8, 8, 7, 1, True, 1024)
    exact = F.conv2d(x.permute(0, 3, 1, 2), w, padding=3, groups=32).permute(0, 2, 3, 1)
    torch.testing.assert_close(o, exact, rtol=1e-4, atol=1e-4)
    if device == "cpu":  # of a GPU's threads each has its own channel
        assert re.search(r"^segments\d*:", found.asm["llvm"], re.MULTILINE), "the loop runs for vectors of a segment"
