"""Layers as libraries write them: weights of four bits, convolution, matrix times vector. By the oracle and by machine code."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")

UNIT = 2.0**-24 * 1.01  # of float32, with what is of second order


def dequantised_matmul(M, N, K, block_M, block_N, block_K):
    """C = A @ W^T; B holds two weights a byte, S a scale for each block_K of them."""

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((N, K // 2), "uint8"),
        S: T.Tensor((N, K // block_K), "float16"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            a = T.alloc_shared((block_M, block_K), "float16")
            packed = T.alloc_shared((block_N, block_K // 2), "uint8")
            w = T.alloc_shared((block_N, block_K), "float16")
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[bx * block_N, k * block_K // 2], packed)
                for i, j in T.Parallel(block_N, block_K):
                    nibble = (packed[i, j // 2] >> T.cast((j % 2) * 4, "uint8")) & T.cast(15, "uint8")
                    w[i, j] = (T.cast(nibble, "float16") - T.float16(8)) * S[bx * block_N + i, k]
                T.gemm(a, w, acc, transpose_B=True)
            T.copy(acc, C[by * block_M, bx * block_N])

    return main


@pytest.mark.parametrize("M, N, K, blocks", [(100, 70, 256, (64, 32, 64)), (1, 1, 64, (16, 16, 64)), (33, 48, 96, (16, 32, 32))])
def test_dequantised_matmul(M, N, K, blocks):
    a, scale = torch.randn(M, K).half(), torch.rand(N, K // blocks[2]).half()
    b = torch.randint(0, 256, (N, K // 2), dtype=torch.uint8)
    c = tilelang.compile(dequantised_matmul(M, N, K, *blocks), out_idx=[-1])(a, b, scale)
    nibbles = torch.stack([b & 15, b >> 4], -1).reshape(N, K).double() - 8
    w = (nibbles * scale.double().repeat_interleave(blocks[2], 1)).half().double()
    # Weights are rounded to float16 once; products of 16-bit floats are exact in float32, their K sums are rounded.
    assert ((c.double() - a.double() @ w.T).abs() <= K * UNIT * (a.double().abs() @ w.abs().T)).all()


def depthwise_convolution(samples, H, W, C, R, block):
    @T.prim_func
    def main(
        X: T.Tensor((samples, H, W, C), "float32"),
        F: T.Tensor((R, R, C), "float32"),
        Y: T.Tensor((samples, H, W, C), "float32"),
    ):
        with T.Kernel(T.ceildiv(W, block), H, samples) as (bx, by, bz):
            acc = T.alloc_fragment((block, C), "float32")
            T.fill(acc, 0)
            for r, s in T.grid(R, R):
                for i, c in T.Parallel(block, C):
                    y = by + r - R // 2
                    x = bx * block + i + s - R // 2
                    if y >= 0 and y < H and x >= 0 and x < W:
                        acc[i, c] += X[bz, y, x, c] * F[r, s, c]
            T.copy(acc, Y[bz, by, bx * block : (bx + 1) * block, 0:C])

    return main


@pytest.mark.parametrize("samples, H, W, C, R", [(2, 9, 13, 6, 3), (1, 4, 8, 16, 5), (3, 1, 1, 1, 3), (1, 5, 11, 7, 1)])
def test_depthwise_convolution(samples, H, W, C, R):
    x, f = torch.randn(samples, H, W, C), torch.randn(R, R, C)
    y = tilelang.compile(depthwise_convolution(samples, H, W, C, R, block=8), out_idx=[-1])(x, f)

    def convolution(x, f):
        x, f = x.double().permute(0, 3, 1, 2), f.double().permute(2, 0, 1)[:, None]
        return torch.nn.functional.conv2d(x, f, padding=R // 2, groups=C).permute(0, 2, 3, 1)

    # Each of R * R products and of their sums is rounded.
    assert ((y.double() - convolution(x, f)).abs() <= (R * R + 1) * UNIT * convolution(x.abs(), f.abs())).all()


def matrix_times_vector(N, K, block_N, block_K):
    @T.prim_func
    def main(A: T.Tensor((K,), "float32"), B: T.Tensor((N, K), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block_N)) as b:
            part = T.alloc_fragment((block_N, block_K), "float32")
            out = T.alloc_fragment((block_N,), "float32")
            T.clear(part)
            for k in T.serial(T.ceildiv(K, block_K)):
                for i, j in T.Parallel(block_N, block_K):
                    part[i, j] += A[k * block_K + j] * B[b * block_N + i, k * block_K + j]
            T.reduce_sum(part, out, dim=1)
            for i in T.Parallel(block_N):
                C[b * block_N + i] = T.max(out[i], 0.0)

    return main


@pytest.mark.parametrize("N, K", [(37, 200), (16, 64), (1, 1), (50, 3)])
def test_matrix_times_vector(N, K):
    a, b = torch.randn(K), torch.randn(N, K)
    around = torch.full((N + 5,), float("nan"))
    tilelang.compile(matrix_times_vector(N, K, 16, 64))(a, b, around[:N])
    wide = b.double() @ a.double()
    # K products and sums are rounded; the maximum with 0 brings no error and takes none away.
    assert ((around[:N].double() - wide.relu()).abs() <= (K + 1) * UNIT * (b.double().abs() @ a.double().abs())).all()
    assert around[N:].isnan().all()
