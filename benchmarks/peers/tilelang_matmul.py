"""A pipelined matmul as TileLang's users write it; B in either major."""

import tilelang
import tilelang.language as T


@tilelang.jit
def matmul(M, N, K, transposed, num_stages, block_M=128, block_N=256, block_K=64, dtype="bfloat16", out=None):
    out = out or dtype

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K) if transposed else (K, N), dtype),
        C: T.Tensor((M, N), out),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K) if transposed else (block_K, block_N), dtype)
            C_shared = T.alloc_shared((block_M, block_N), out)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.use_swizzle(panel_size=10, enable=True)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                if transposed:
                    T.copy(B[bx * block_N, k * block_K], B_shared)
                else:
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=transposed)
            T.copy(C_local, C_shared)
            T.copy(C_shared, C[by * block_M, bx * block_N])

    return main


@tilelang.jit
def add(N, BLOCK, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, BLOCK), threads=128) as bx:
            for i in T.Parallel(BLOCK):
                Z[bx * BLOCK + i] = X[bx * BLOCK + i] + Y[bx * BLOCK + i]

    return main
