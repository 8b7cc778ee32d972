"""Softmax and RMS norm over rows: a program holds a whole row."""

import ninetoothed
import ninetoothed.language as ntl
from ninetoothed import Symbol, Tensor

BLOCK_SIZE = Symbol("BLOCK_SIZE", constexpr=True)


def arrangement(*tensors):
    return tuple(t.tile((1, BLOCK_SIZE)) if t.ndim else t for t in tensors)


def softmax_application(input, output):
    loaded = input
    exponents = ntl.exp(ntl.cast(loaded, ntl.float32) - ntl.max(ntl.cast(loaded, ntl.float32)))
    output = exponents / ntl.sum(exponents)


def rms_norm_application(input, weight, eps, output):
    x = ntl.cast(input, ntl.float32)
    output = x * ntl.rsqrt(ntl.sum(x * x) / input.shape[-1] + eps) * weight


softmax = ninetoothed.make(arrangement, softmax_application, (Tensor(2, other=float("-inf")), Tensor(2)))
rms_norm = ninetoothed.make(arrangement, rms_norm_application, (Tensor(2), Tensor(2), Tensor(0), Tensor(2)))


if __name__ == "__main__":
    import torch

    x = torch.randn(1823, 781)
    y = torch.empty_like(x)
    softmax(x, y, BLOCK_SIZE=x.shape[-1])
    torch.testing.assert_close(y, torch.softmax(x, -1))
    weight = torch.randn(781)
    rms_norm(x, weight.expand_as(x), 1e-5, y, BLOCK_SIZE=x.shape[-1])
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (781,), weight, 1e-5))
    print("softmax and rms norm agree with torch")
