# Gradients of products without weights: dq has few rows, of as many columns as keys have.
import tilelang
import tilelang.language as T


@tilelang.jit
def gradients(length, dim, dim_v, block, step, dtype, kind):
    """S = K Q^T, DS = S - V dO^T, DV = S^T' dO (rows of keys), DK = DS Q, DQ = DS^T K over all pairs of keys and queries.

    Q, K, DK: (length, dim); dO, V, DV: (length, dim_v), in `dtype` what is read, in float32 what is written.
    DQ, (parts, length, dim) of float32: kind "elements" and "tiles" add to its part 0, "stores" writes part b in program b."""
    blocks = T.ceildiv(length, block)
    parts = blocks if kind == "stores" else 1

    @T.prim_func
    def main(
        Q: T.Tensor((length, dim), dtype),
        K: T.Tensor((length, dim), dtype),
        V: T.Tensor((length, dim_v), dtype),
        dO: T.Tensor((length, dim_v), dtype),
        DQ: T.Tensor((parts, length, dim), "float32"),
        DK: T.Tensor((length, dim), "float32"),
        DV: T.Tensor((length, dim_v), "float32"),
    ):
        with T.Kernel(blocks, threads=256) as b:
            k, v = T.alloc_shared((block, dim), dtype), T.alloc_shared((block, dim_v), dtype)
            q, do = T.alloc_shared((step, dim), dtype), T.alloc_shared((step, dim_v), dtype)
            s, ds = T.alloc_fragment((block, step), "float32"), T.alloc_fragment((block, step), "float32")
            s_half, ds_half = T.alloc_fragment((block, step), dtype), T.alloc_fragment((block, step), dtype)
            shown = T.alloc_shared((block, step), dtype)
            dk, dv = T.alloc_fragment((block, dim), "float32"), T.alloc_fragment((block, dim_v), "float32")
            dq, dq_shared = T.alloc_fragment((step, dim), "float32"), T.alloc_shared((step, dim), "float32")
            T.copy(K[b * block : (b + 1) * block, :], k)
            T.copy(V[b * block : (b + 1) * block, :], v)
            T.clear(dk)
            T.clear(dv)
            for i in T.Pipelined(T.ceildiv(length, step), num_stages=2):
                T.copy(Q[i * step : (i + 1) * step, :], q)
                T.copy(dO[i * step : (i + 1) * step, :], do)
                T.gemm(k, q, s, transpose_B=True, clear_accum=True)
                T.gemm(v, do, ds, transpose_B=True, clear_accum=True)
                T.copy(s, s_half)
                T.gemm(s_half, do, dv)
                for r, c in T.Parallel(block, step):
                    ds_half[r, c] = s[r, c] - ds[r, c]
                T.gemm(ds_half, q, dk)
                T.copy(ds_half, shown)
                T.gemm(shown, k, dq, transpose_A=True, clear_accum=True)
                if kind == "elements":
                    for r, c in T.Parallel(step, dim):
                        if i * step + r < length:
                            T.atomic_add(DQ[0, i * step + r, c], dq[r, c])
                elif kind == "tiles":
                    T.copy(dq, dq_shared)
                    T.atomic_add(DQ[0, i * step : (i + 1) * step, :], dq_shared)
                else:
                    T.copy(dq, DQ[b, i * step : (i + 1) * step, :])
            T.copy(dk, DK[b * block : (b + 1) * block, :])
            T.copy(dv, DV[b * block : (b + 1) * block, :])

    return main
