"""Convolutions as products of patches, against torch's in float64."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


@pytest.mark.parametrize("kernel, stride, dilation, pad", [(3, 1, 1, 1), (3, 2, 1, 0), (2, 1, 2, 1), (1, 1, 1, 0)])
def test_convolutions(kernel, stride, dilation, pad, engine):
    N, H, W, C, F = 2, 7, 6, 4, 8
    rows, columns = ((size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for size in (H, W))
    depth, block_M, block_K = kernel * kernel * C, 16, 16

    @T.prim_func
    def main(
        X: T.Tensor((N, H, W, C), "float32"), K: T.Tensor((depth, F), "float32"), Y: T.Tensor((N * rows * columns, F), "float32")
    ):
        with T.Kernel(T.ceildiv(N * rows * columns, block_M)) as by:
            patches = T.alloc_shared((block_M, block_K), "float32")
            filters = T.alloc_shared((block_K, F), "float32")
            acc = T.alloc_fragment((block_M, F), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(depth, block_K), num_stages=2):
                T.im2col(X, patches, by, k, kernel, stride, dilation, pad)
                T.copy(K[k * block_K, 0], filters)
                T.gemm(patches, filters, acc)
            T.copy(acc, Y[by * block_M, 0])

    x, k = torch.randint(-4, 5, (N, H, W, C)).float(), torch.randint(-4, 5, (kernel, kernel, C, F)).float()
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
