"""Attention forward of heads one behind the other, as TileLang's users write it."""

import tilelang
import tilelang.language as T


@tilelang.jit
def attention(heads, n, d, block_M, block_N, causal, dtype="float16"):
    scale = d**-0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((heads, n, d), dtype),
        K: T.Tensor((heads, n, d), dtype),
        V: T.Tensor((heads, n, d), dtype),
        Out: T.Tensor((heads, n, d), dtype),
    ):
        with T.Kernel(T.ceildiv(n, block_M), heads, threads=256) as (bx, by):
            q = T.alloc_shared((block_M, d), dtype)
            k = T.alloc_shared((block_N, d), dtype)
            v = T.alloc_shared((block_N, d), dtype)
            out = T.alloc_shared((block_M, d), dtype)
            scores = T.alloc_fragment((block_M, block_N), "float32")
            weights = T.alloc_fragment((block_M, block_N), dtype)
            acc = T.alloc_fragment((block_M, d), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            old = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            T.copy(Q[by, bx * block_M : (bx + 1) * block_M, :], q)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            steps = T.ceildiv((bx + 1) * block_M, block_N) if causal else T.ceildiv(n, block_N)
            for step in T.Pipelined(steps, num_stages=2):
                T.copy(K[by, step * block_N : (step + 1) * block_N, :], k)
                if causal:
                    for i, j in T.Parallel(block_M, block_N):
                        scores[i, j] = T.if_then_else(bx * block_M + i >= step * block_N + j, 0, -T.infinity("float32"))
                else:
                    T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    old[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - top[i] * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * old[i] + part[i]
                T.copy(scores, weights)
                for i, j in T.Parallel(block_M, d):
                    acc[i, j] *= old[i]
                T.copy(V[by, step * block_N : (step + 1) * block_N, :], v)
                T.gemm(weights, v, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, d):
                acc[i, j] /= total[i]
            T.copy(acc, out)
            T.copy(out, Out[by, bx * block_M : (bx + 1) * block_M, :])

    return main
