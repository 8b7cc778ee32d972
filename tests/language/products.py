"""What the products of f32 begin with on each device."""

import torch

TF32_UNIT = 2.0**-11


def factor(x):
    """What a product of default precision multiplies, in float64: f32 on a GPU as tf32, 10 bits of mantissa, ties away from 0."""
    if x.device.type != "cuda" or x.dtype != torch.float32:
        return x.double()
    return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32).double()
