# Two products a step, and a line of numbers that each step keeps for what comes behind the loop.
import tilelang
import tilelang.language as T


@tilelang.jit
def maxima(rows, length, dim, step, steps, dtype, kind):
    """S = Q K^T, Out = S V; M[r, i] = max of S[r, :] over step i, less the largest of all (of row r).

    Q, Out: (rows, dim); K, V: (length, dim), in `dtype` what is read; Out in float32. M: (rows, steps) of float32, of the first
    steps; where there are fewer, 0 less the largest. kind: "columns" of a buffer, or "rows" of one that is turned behind the
    loop."""

    @T.prim_func
    def main(
        Q: T.Tensor((rows, dim), dtype),
        K: T.Tensor((length, dim), dtype),
        V: T.Tensor((length, dim), dtype),
        Out: T.Tensor((rows, dim), "float32"),
        M: T.Tensor((rows, steps), "float32"),
    ):
        with T.Kernel(T.ceildiv(rows, 64), threads=128) as b:
            q, k, v = T.alloc_shared((64, dim), dtype), T.alloc_shared((step, dim), dtype), T.alloc_shared((step, dim), dtype)
            s, s_half = T.alloc_fragment((64, step), "float32"), T.alloc_fragment((64, step), dtype)
            o = T.alloc_fragment((64, dim), "float32")
            most, all_most = T.alloc_fragment((64,), "float32"), T.alloc_fragment((64,), "float32")
            kept = T.alloc_shared((64, steps) if kind == "columns" else (steps, 64), "float32")
            told = T.alloc_fragment((64, steps), "float32")
            T.copy(Q[b * 64 : (b + 1) * 64, :], q)
            T.clear(o)
            T.clear(kept)
            T.fill(all_most, -T.infinity("float32"))
            for i in T.Pipelined(T.ceildiv(length, step), num_stages=2):
                T.copy(K[i * step : (i + 1) * step, :], k)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                T.reduce_max(s, most, dim=1, clear=True)
                if kind == "columns":
                    T.copy(most, kept[:, i])
                else:
                    T.copy(most, kept[i, :])
                for r in T.Parallel(64):
                    all_most[r] = T.max(all_most[r], most[r])
                T.copy(s, s_half)
                T.copy(V[i * step : (i + 1) * step, :], v)
                T.gemm(s_half, v, o)
            for r, c in T.Parallel(64, steps):
                told[r, c] = (kept[r, c] if kind == "columns" else kept[c, r]) - all_most[r]
            T.copy(o, Out[b * 64 : (b + 1) * 64, :])
            T.copy(told, M[b * 64 : (b + 1) * 64, :])

    return main
