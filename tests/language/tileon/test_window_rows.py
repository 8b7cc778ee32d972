"""Convolutions of channels-first images as products: rows of windows are found by several index tiles, image, row and column."""

import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def convolution(x, w, y, N, C, H, W, OC, OH, OW, R: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BM: tl.constexpr,
                BN: tl.constexpr, BK: tl.constexpr, FLAT: tl.constexpr):  # fmt: skip
    """K by loops over the window around channels (weights: OC, R, R, C), or flattened as channel, row, column (OC, C, R, R)."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    image, row, column = m // (OH * OW), m // OW % OH, m % OW
    total = tl.zeros((BM, BN), tl.float32)
    if FLAT:
        for start in range(0, C * R * R, BK):
            k = start + tl.arange(0, BK)
            c, i, j = k // (R * R), k % (R * R) // R, k % R
            r = row[:, None] * STRIDE - PAD + i[None, :]
            q = column[:, None] * STRIDE - PAD + j[None, :]
            inside = (m < N * OH * OW)[:, None] & (k < C * R * R)[None, :] & (r >= 0) & (r < H) & (q >= 0) & (q < W)
            windows = tl.load(x + ((image[:, None] * C + c[None, :]) * H + r) * W + q, mask=inside, other=0.0)
            weights = tl.load(
                w + n[None, :] * C * R * R + k[:, None], mask=(k < C * R * R)[:, None] & (n < OC)[None, :], other=0.0
            )
            total = tl.dot(windows, weights, total)
    else:
        for i in range(R):
            for j in range(R):
                r, q = row * STRIDE - PAD + i, column * STRIDE - PAD + j
                inside = (m < N * OH * OW) & (r >= 0) & (r < H) & (q >= 0) & (q < W)
                for start in range(0, C, BK):
                    c = start + tl.arange(0, BK)
                    place = ((image * C * H + r) * W + q)[:, None] + (c * H * W)[None, :]
                    windows = tl.load(x + place, mask=inside[:, None] & (c < C)[None, :], other=0.0)
                    place = ((n * R + i) * R + j)[None, :] * C + c[:, None]
                    weights = tl.load(w + place, mask=(c < C)[:, None] & (n < OC)[None, :], other=0.0)
                    total += tl.dot(windows, weights)
    place = ((image[:, None] * OC + n[None, :]) * OH + row[:, None]) * OW + column[:, None]
    tl.store(y + place, total.to(y.dtype.element_ty), mask=(m < N * OH * OW)[:, None] & (n < OC)[None, :])


SHAPES = [((9, 37), 3, 1, 1), ((13, 14), 3, 2, 1), ((6, 5), 5, 1, 2), ((16, 18), 3, 1, 0)]


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size, window, stride, pad", SHAPES)
def test_channels_first(device, size, window, stride, pad, dtype, flat):
    N, C, OC, (H, W) = 2, 19, 21, size
    x, w = torch.randn(N, C, H, W).to(dtype), torch.randn(OC, C, window, window).to(dtype)
    exact = F.conv2d(x.double(), w.double(), None, stride, pad)
    sizes = F.conv2d(x.double().abs(), w.double().abs(), None, stride, pad)
    OH, OW = exact.shape[2:]
    around = torch.full((2048 + x.numel() + 2048,), float("nan"), dtype=dtype)
    around[2048:-2048] = x.flatten()
    around = around.to(device)
    weights = (w if flat else w.permute(0, 2, 3, 1)).contiguous().to(device)
    out = torch.full((exact.numel() + 64,), -77.0, dtype=dtype, device=device)
    grid = (-(-N * OH * OW // 64), -(-OC // 32))
    convolution[grid](around[2048:-2048], weights, out, N, C, H, W, OC, OH, OW, window, stride, pad, 64, 32, 32, flat)
    assert (out[exact.numel() :] == -77.0).all()
    found = out[: exact.numel()].cpu().double().view_as(exact)
    last = {torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}[dtype]
    bound = sizes * C * window**2 * 2.0**-23 + exact.abs() * last * 1.01 + 2.0**-24
    assert ((found - exact).abs() <= bound).all()
