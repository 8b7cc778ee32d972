"""Rows of what models are made of: products in bfloat16, convolutions, attention."""

from functools import partial

import torch
import torch.nn.functional as F
from harness import compare
from rows import blocks_text, example, row, same


@row
def matmul_bfloat16(threads):
    """Matmul bf16 2048 and 4096 into bf16 against torch."""
    matmul = example("tileon/matmul.py").matmul
    for n in (2048, 4096):
        for blocks in ((128, 256, 64), (64, 64, 32)):
            a, b = (torch.randn(n, n).bfloat16() for _ in range(2))
            c, reference = torch.empty_like(a), torch.empty_like(a)
            same(matmul(a, b, c, blocks), torch.mm(a, b), 1e-2)
            ours, rivals = partial(matmul, a, b, c, blocks), {"torch": partial(torch.mm, a, b, out=reference)}
            yield compare(
                f"matmul bfloat16 {n} to bfloat16, blocks {blocks_text(blocks)}", ours, rivals, 2 * n**3, "GFLOP/s", 0.9
            )


@row
def convolutions(threads):
    """NineToothed's convolution, 3x3 and 1x1, f32 and bf16, both layouts, against torch."""
    conv2d = example("ninetoothed/conv2d.py").conv2d
    for images, channels, size, filters, window in ((4, 64, 56, 64, 3), (4, 256, 28, 128, 1)):
        for dtype in (torch.float32, torch.bfloat16):
            for layout in (torch.contiguous_format, torch.channels_last):
                x = torch.randn(images, channels, size, size).to(dtype, memory_format=layout)
                w = (torch.randn(filters, channels, window, window) / 24).to(dtype, memory_format=layout)
                expected = F.conv2d(x, w)
                y = torch.empty_like(expected)
                conv2d(x, w, y)
                same(y, expected, 1e-4 if dtype == torch.float32 else 2e-2)
                work = f"conv2d {window}x{window} {images}x{channels}x{size}x{size}, {filters} filters, {str(dtype)[6:]}"
                work += ", channels last" if layout == torch.channels_last else ""
                rivals = {"torch": partial(F.conv2d, x, w)}
                yield compare(work, partial(conv2d, x, w, y), rivals, 2 * y.numel() * w[0].numel(), "GFLOP/s", 0.9)


@row
def attention(threads):
    """Attention forward in bf16 and f32, whole and causal, against torch."""
    attention = example("tileon/attention.py").attention
    for dtype in (torch.bfloat16, torch.float32):
        for columns in (64, 128):
            for causal in (False, True):
                q, k, v = (torch.randn(1, 8, 1024, columns).to(dtype) for _ in range(3))
                out, theirs = torch.empty_like(q), partial(F.scaled_dot_product_attention, q, k, v, is_causal=causal)
                attention(q, k, v, out, causal, (64, 64))
                same(out, theirs(), 1e-3 if dtype == torch.float32 else 2e-2)
                work = f"attention 8x1024x{columns} {str(dtype)[6:]}{', causal' if causal else ''}"
                flops = 4 * 8 * 1024**2 * columns // (2 if causal else 1)
                ours = partial(attention, q, k, v, out, causal, (64, 64))
                yield compare(work, ours, {"torch": theirs}, flops, "GFLOP/s", 1.0)
