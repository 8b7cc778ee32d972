"""Softmax and RMS norm over rows. Runs as it is: `./run python -m tilery run examples/tilelang/norms.py`."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def softmax(M, N, block_M, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=128) as bx:
            x = T.alloc_fragment((block_M, N), "float32")
            row_max = T.alloc_fragment((block_M,), "float32")
            row_sum = T.alloc_fragment((block_M,), "float32")
            T.copy(X[bx * block_M, 0], x)
            T.reduce_max(x, row_max, dim=1)
            for i, j in T.Parallel(block_M, N):
                x[i, j] = T.exp(x[i, j] - row_max[i])
            T.reduce_sum(x, row_sum, dim=1)
            for i, j in T.Parallel(block_M, N):
                x[i, j] /= row_sum[i]
            T.copy(x, Y[bx * block_M, 0])

    return main


@tilelang.jit(out_idx=[1])
def rms_norm(M, N, block_M, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=128) as bx:
            a = T.alloc_fragment((block_M, N), "float32")
            squares = T.alloc_fragment((block_M, N), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            T.copy(A[bx * block_M:(bx + 1) * block_M, :], a)
            for i, j in T.Parallel(block_M, N):
                squares[i, j] = a[i, j] * a[i, j]
            T.reduce_sum(squares, total, dim=1)
            for i in T.Parallel(block_M):
                total[i] = T.rsqrt(total[i] / N + 1e-12)
            for i, j in T.Parallel(block_M, N):
                a[i, j] *= total[i]
            T.copy(a, B[bx * block_M:(bx + 1) * block_M, :])

    return main


if __name__ == "__main__":
    import torch

    x = torch.randn(1000, 1024, device="cuda")
    torch.testing.assert_close(softmax(1000, 1024, 4)(x), x.softmax(1))
    torch.testing.assert_close(rms_norm(1000, 1024, 4)(x), x * (x.square().mean(1, keepdim=True) + 1e-12).rsqrt())
    print("softmax and rms_norm agree with torch")
