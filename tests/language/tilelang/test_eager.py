"""Eager kernels: @tilelang.jit on the function itself."""

import numpy as np
import pytest
import torch
from language.products import factor

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit
def matmul(A, B, block_M=32, block_N=32, block_K=16, relu=False):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), "float32")
    B: T.Tensor((K, N), "float32")
    C = T.empty((M, N), "float32")
    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
        a = T.alloc_shared((block_M, block_K), "float32")
        b = T.alloc_shared((block_K, block_N), "float32")
        c = T.alloc_fragment((block_M, block_N), "float32")
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
            T.copy(A[by * block_M, k * block_K], a)
            T.copy(B[k * block_K, bx * block_N], b)
            T.gemm(a, b, c)
        if relu:
            for i, j in T.Parallel(block_M, block_N):
                c[i, j] = T.max(c[i, j], 0)
        T.copy(c, C[by * block_M, bx * block_N])
    return C


@tilelang.jit
def double(A, scale: float = 2.0):
    N = T.const("N")
    A: T.Tensor((N, N * 2), "float32")
    with T.Kernel(N) as i:
        for j in T.Parallel(N * 2):
            A[i, j] = A[i, j] * scale


@tilelang.jit
def hidden(A):
    N = T.const("N")
    A: T.Tensor((N * 2,), "float32")
    with T.Kernel(1):
        A[0] = N


def test_matmul():
    for M, N, K in ((40, 50, 30), (32, 32, 16), (1, 1, 1)):
        a, b = torch.randn(M, K), torch.randn(K, N)
        expected = (factor(a) @ factor(b)).float()
        torch.testing.assert_close(matmul(a, b), expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(matmul(a, b, block_M=16, relu=True), expected.relu(), rtol=1e-5, atol=1e-5)
    kernel = matmul.compile(M=64, N=64, K=64)
    assert "tile.kernel" in kernel.get_kernel_source() and kernel is matmul.compile(M=64, N=64, K=64)


def test_no_outputs():
    a = np.ones((3, 6), np.float32)
    assert double(a) is None and (a == 2).all()
    double(a, scale=5.0)
    assert (a == 10).all()
    with pytest.raises(ValueError, match=r"Argument double.A.shape\[1\] has an unsatisfied constraint: 5 == 6"):
        double(np.ones((3, 5), np.float32))


def test_wrong_use():
    with pytest.raises(RuntimeError, match="constant `N` of `hidden` is no dimension of a tensor"):
        hidden(np.ones(4, np.float32))
    with pytest.raises(RuntimeError, match="T.const is used outside of an eager kernel"):
        T.const("M")
    with pytest.raises(ValueError, match="`double` is an eager kernel: out_idx is for prim_funcs"):
        tilelang.jit(double.function, out_idx=[0])
