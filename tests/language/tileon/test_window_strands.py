"""Windows of images whose channels lie side by side, as factors of products: along K neighbours in memory are neighbours,
or every ninth lane is. Small integers, so that every sum is exact in any order; memory outside the images spoils a sum."""

import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def innermost_channel(x, w, o, M, OH, OW, H, W, C, N, K, S, P, OTHER, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """K counts channels first, then columns and rows of windows: sizes come with the launch."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ow, oh, image = m % OW, m // OW % OH, m // (OW * OH)
    acc = tl.zeros((BM, BN), o.dtype.element_ty)
    for first in range(0, K * K * C, BK):
        k = first + tl.arange(0, BK)
        c, kw, kh = k % C, k // C % K, k // (C * K)
        h, v = oh[:, None] * S + kh[None, :] - P, ow[:, None] * S + kw[None, :] - P
        ok = (h >= 0) & (h < H) & (v >= 0) & (v < W) & (m[:, None] < M) & (k[None, :] < K * K * C)
        a = tl.load(x + ((image[:, None] * H + h) * W + v) * C + c[None, :], mask=ok, other=OTHER)
        b = tl.load(w + k[:, None] * N + n[None, :], mask=(k[:, None] < K * K * C) & (n[None, :] < N), other=0)
        acc += tl.dot(a, b, out_dtype=o.dtype.element_ty)
    tl.store(o + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@tileon.jit
def outermost_channel(x, w, o, M, OH, OW, H, W, C: tl.constexpr, N, K: tl.constexpr, S, P, OTHER, BM: tl.constexpr,
                      BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """K counts columns of windows first, then rows and channels."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ow, oh, image = m % OW, m // OW % OH, m // (OW * OH)
    acc = tl.zeros((BM, BN), o.dtype.element_ty)
    for first in range(0, K * K * C, BK):
        k = first + tl.arange(0, BK)
        kw, kh, c = k % K, k // K % K, k // (K * K)
        h, v = oh[:, None] * S + kh[None, :] - P, ow[:, None] * S + kw[None, :] - P
        ok = (h >= 0) & (h < H) & (v >= 0) & (v < W) & (m[:, None] < M) & (k[None, :] < K * K * C)
        a = tl.load(x + ((image[:, None] * H + h) * W + v) * C + c[None, :], mask=ok, other=OTHER)
        b = tl.load(w + k[:, None] * N + n[None, :], mask=(k[:, None] < K * K * C) & (n[None, :] < N), other=0)
        acc += tl.dot(a, b, out_dtype=o.dtype.element_ty)
    tl.store(o + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@tileon.jit
def loop_over_windows(x, w, o, M, OH, OW, H, W, C, N, K, S, P, OTHER, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A loop over windows around one over channels."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ow, oh, image = m % OW, m // OW % OH, m // (OW * OH)
    acc = tl.zeros((BM, BN), o.dtype.element_ty)
    for kh in range(K):
        for kw in range(K):
            h, v = oh * S + kh - P, ow * S + kw - P
            ok = (h >= 0) & (h < H) & (v >= 0) & (v < W) & (m < M)
            for first in range(0, C, BK):
                c = first + tl.arange(0, BK)
                at = (((image * H + h) * W + v) * C)[:, None] + c[None, :]
                a = tl.load(x + at, mask=ok[:, None] & (c[None, :] < C), other=OTHER)
                k = (kh * K + kw) * C + c
                b = tl.load(w + k[:, None] * N + n[None, :], mask=(c[:, None] < C) & (n[None, :] < N), other=0)
                acc += tl.dot(a, b, out_dtype=o.dtype.element_ty)
    tl.store(o + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


KERNELS = {kernel.__name__: kernel for kernel in (innermost_channel, outermost_channel, loop_over_windows)}
# images, rows, columns, channels, filters, window, stride, padding, what lies outside; blocks of K
SHAPES = [
    ((2, 9, 7, 32, 40, 3, 1, 1, 0), 32),
    ((1, 12, 5, 64, 33, 3, 2, 1, 2), 64),
    ((1, 8, 9, 24, 16, 3, 1, 0, 1), 64),
    ((2, 5, 6, 7, 5, 2, 1, 1, 0), 16),
    ((1, 1, 1, 1, 1, 1, 1, 0, 0), 16),
    ((1, 20, 20, 16, 16, 5, 3, 2, 0), 128),
    ((3, 4, 4, 48, 8, 1, 1, 0, 0), 32),
    ((1, 11, 11, 3, 20, 7, 2, 3, 0), 32),
    ((0, 5, 5, 8, 8, 3, 1, 1, 0), 32),
]


def surrounded(values):
    """The same numbers amid others in memory, which no product may take part of."""
    bad = float("nan") if values.is_floating_point() else 99
    memory = torch.full((values.numel() + 256,), bad, device="cpu").to(values.dtype).to(values.device)
    memory[128 : 128 + values.numel()] = values.flatten()
    return memory[128 : 128 + values.numel()].view(values.shape)


CASES = [(dtype, *case) for case in SHAPES for dtype in (torch.float32, torch.bfloat16)]
CASES += [(dtype, *case) for case in SHAPES[:3] for dtype in (torch.float64, torch.float16, torch.int8)]


@pytest.mark.pairs
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype, shape, block", CASES)
def test_windows(name, dtype, shape, block):
    images, high, wide, channels, filters, window, stride, padding, other = shape
    torch.manual_seed(1)
    x = surrounded(torch.randint(-3, 4, (images, high, wide, channels)).to(dtype))
    k = torch.randint(-3, 4, (window, window, channels, filters)).to(dtype)
    padded = F.pad(x.double().permute(0, 3, 1, 2), (padding,) * 4, value=other)
    expected = F.conv2d(padded, k.double().permute(3, 2, 0, 1), stride=stride).permute(0, 2, 3, 1)
    weights = k.permute(2, 0, 1, 3) if name == "outermost_channel" else k
    sums = {torch.float64: torch.float64, torch.int8: torch.int32}.get(dtype, torch.float32)
    out = torch.full(expected.shape, 77, dtype=sums)
    rows = expected[..., 0].numel()
    grid = (tileon.cdiv(rows, 32), tileon.cdiv(filters, 16))
    sizes = (rows, expected.shape[1], expected.shape[2], high, wide, channels, filters, window, stride, padding, other)
    KERNELS[name][grid](x, weights.contiguous(), out, *sizes, BM=32, BN=16, BK=block)
    assert torch.equal(out.double(), expected)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bits_are_those_of_other_tiles(name, dtype):
    """Sums of rounded products, of 9 x 32 neighbours along K: as many in every tile, whatever its size.

    Of 16-bit factors steps are alike: AMX adds up to 32 of a step by itself (docs/reference/cpu.md)."""
    x, w = torch.randn(2, 14, 13, 32).to(dtype), torch.randn(9 * 32, 48).to(dtype)
    rows = 2 * 14 * 13
    results = []
    for BM, BN, BK in ((16, 16, 32), (128, 64, 32), (64, 16, 16 if dtype == torch.float32 else 32)):
        out = torch.full((rows, 48), float("nan"))
        sizes = (rows, 14, 13, 14, 13, 32, 48, 3, 1, 1, 0)
        KERNELS[name][(tileon.cdiv(rows, BM), tileon.cdiv(48, BN))](x, w, out, *sizes, BM=BM, BN=BN, BK=BK)
        results.append(out)
    assert all(torch.equal(results[0], each) for each in results)
    windows = F.unfold(x.double().permute(0, 3, 1, 2), 3, padding=1).view(2, 32, 9, -1).transpose(1, 2)
    if name == "outermost_channel":
        windows = windows.transpose(1, 2)
    exact = windows.reshape(2, 288, -1).transpose(1, 2).reshape(rows, 288)
    error = 1.01 * 290 * 2.0**-24 * (exact.abs() @ w.double().abs())
    assert ((results[0].double() - exact @ w.double()).abs() <= error).all()
