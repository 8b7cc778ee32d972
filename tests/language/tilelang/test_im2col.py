"""Convolutions as products of patches, against torch's in float64."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


# Channels in pieces of a vector, of more and of less, of elements that products take one by one, in pairs and in fours.
@pytest.mark.parametrize(
    "channels, block_K, dtype", [(4, 16, "float32"), (48, 32, "bfloat16"), (24, 32, "bfloat16"), (96, 64, "int8")]
)
@pytest.mark.parametrize("kernel, stride, dilation, pad", [(3, 1, 1, 1), (3, 2, 1, 0), (2, 1, 2, 1), (1, 1, 1, 0)])
def test_convolutions(kernel, stride, dilation, pad, channels, block_K, dtype, engine):
    N, H, W, C, F = 2, 7, 6, channels, 8
    rows, columns = ((size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for size in (H, W))
    depth, block_M = kernel * kernel * C, 16
    sums = "int32" if dtype == "int8" else "float32"

    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), dtype), K: T.Tensor((depth, F), dtype), Y: T.Tensor((N * rows * columns, F), sums)):
        with T.Kernel(T.ceildiv(N * rows * columns, block_M)) as by:
            patches = T.alloc_shared((block_M, block_K), dtype)
            filters = T.alloc_shared((block_K, F), dtype)
            acc = T.alloc_fragment((block_M, F), sums)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(depth, block_K), num_stages=2):
                T.im2col(X, patches, by, k, kernel, stride, dilation, pad)
                T.copy(K[k * block_K, 0], filters)
                T.gemm(patches, filters, acc)
            T.copy(acc, Y[by * block_M, 0])

    kind = getattr(torch, dtype)
    x, k = torch.randint(-4, 5, (N, H, W, C)).to(kind), torch.randint(-4, 5, (kernel, kernel, C, F)).to(kind)
    out = tilelang.compile(main, out_idx=-1)(x, k.reshape(depth, F))
    expected = torch.nn.functional.conv2d(
        x.double().permute(0, 3, 1, 2), k.double().permute(3, 2, 0, 1), stride=stride, dilation=dilation, padding=pad
    )
    assert (out.double() == expected.permute(0, 2, 3, 1).reshape(-1, F)).all()


def test_wrong_patches():
    def main(X: T.Tensor((8, 8), "float32")):
        with T.Kernel(1):
            T.c2d_im2col(X, T.alloc_shared((4, 4), "float32"), 0, 0, 3, 1, 1, 1)

    with pytest.raises(ValueError, match=r"T.im2col takes images \(N, H, W, C\) and a buffer of two dimensions"):
        T.prim_func(main)
