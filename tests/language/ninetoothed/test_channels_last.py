"""Convolutions of images whose channels lie side by side in memory: the bits of those whose rows do, where K counts on alike."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from tilery import compat

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "ninetoothed" / "conv2d.py"
# images, channels, rows, columns, filters, window: K whole and ragged, windows of one and of more elements than a step of K
SHAPES = [
    (2, 32, 9, 8, 40, 3),
    (1, 24, 12, 7, 9, 3),
    (2, 5, 6, 6, 3, 2),
    (1, 64, 4, 4, 64, 1),
    (1, 3, 13, 12, 16, 7),
    (3, 1, 3, 3, 1, 3),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_layouts_have_the_same_bits(device, shape, dtype):
    images, channels, high, wide, filters, window = shape
    torch.manual_seed(2)
    conv2d = compat.load(EXAMPLE).conv2d
    x = torch.randn(images, channels, high, wide).to(dtype)
    w = torch.randn(filters, channels, window, window).to(dtype)
    expected = F.conv2d(x.double(), w.double())
    results = []
    for layout in (torch.contiguous_format, torch.channels_last):
        out = torch.full_like(expected.to(dtype), torch.nan).to(memory_format=layout)
        conv2d(x.to(memory_format=layout), w.to(memory_format=layout), out)
        results.append(out)
    assert device != "cpu" or torch.equal(*results)  # on GPUs a layout may choose how sums are shared
    # K products and sums in float32, and the rounding of the result.
    size = F.conv2d(x.double().abs(), w.double().abs())
    unit = {torch.float32: 0.0, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[dtype]
    rounded = 2.0**-10 if device != "cpu" and dtype == torch.float32 else 0.0  # both factors, to tf32
    bound = 1.01 * (((w[0].numel() + 2) * 2.0**-24 + rounded) * size + unit * (size + expected.abs())) + 2.0**-24
    assert all(((result.double() - expected).abs() <= bound).all() for result in results)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_parts_of_images(dtype):
    """Every other column of some channels: strides that are no sizes, and NaN in all that is left out."""
    conv2d = compat.load(EXAMPLE).conv2d
    memory = torch.full((2, 11, 30, 50), torch.nan).to(dtype)
    x = memory.permute(0, 3, 1, 2)[:, 8:40, :, ::2]
    x.copy_(torch.randint(-3, 4, x.shape))
    w = torch.randint(-3, 4, (24, 32, 3, 3)).to(dtype).to(memory_format=torch.channels_last)
    out = torch.full((2, 24, 9, 13), torch.nan).to(memory_format=torch.channels_last)
    conv2d(x, w, out)
    assert torch.equal(out.double(), F.conv2d(x.double(), w.double()))
