# Gradients of products with the blocks of keys that each query has selected: tiles of few rows, of tensors in blocks.
import tilelang
import tilelang.language as T


@tilelang.jit
def gradients(length, heads, group, dim, block, kind):
    """S = K Q^T, DV = S dO, DS = S * (V dO^T), DK = DS Q, DQ = DS^T K over selected pairs of a block of keys and a query.

    Q, dO, DQ: (length, heads * group, dim); K, V, DK, DV: (length, heads, dim); Selected: (length, heads, blocks).
    Selected is int32; DQ is added to."""
    length = length or T.dynamic("length")
    blocks = T.ceildiv(length, block)

    @T.prim_func
    def main(
        Q: T.Tensor((length, heads * group, dim), "float16"),
        K: T.Tensor((length, heads, dim), "float16"),
        V: T.Tensor((length, heads, dim), "float16"),
        dO: T.Tensor((length, heads * group, dim), "float16"),
        Selected: T.Tensor((length, heads, blocks), "int32"),
        DQ: T.Tensor((length, heads * group, dim), "float32"),
        DK: T.Tensor((length, heads, dim), "float32"),
        DV: T.Tensor((length, heads, dim), "float32"),
    ):
        with T.Kernel(blocks, heads, threads=128) as (b, h):
            k, v = T.alloc_shared((block, dim), "float16"), T.alloc_shared((block, dim), "float16")
            q, do = T.alloc_shared((group, dim), "float16"), T.alloc_shared((group, dim), "float16")
            s, ds = T.alloc_fragment((block, group), "float32"), T.alloc_fragment((block, group), "float32")
            s_half, ds_half = T.alloc_fragment((block, group), "float16"), T.alloc_fragment((block, group), "float16")
            shown = T.alloc_shared((block, group), "float16")
            dk, dv = T.alloc_fragment((block, dim), "float32"), T.alloc_fragment((block, dim), "float32")
            dq = T.alloc_fragment((group, dim), "float32")
            T.copy(K[b * block : (b + 1) * block, h, :], k)
            T.copy(V[b * block : (b + 1) * block, h, :], v)
            T.clear(dk)
            T.clear(dv)
            for i in T.serial(length if kind == "all" else length - b * block):
                row = i if kind == "all" else b * block + i
                if Selected[row, h, b] != 0:
                    T.copy(Q[row, h * group : (h + 1) * group, :], q)
                    T.copy(dO[row, h * group : (h + 1) * group, :], do)
                    T.gemm(k, q, s, transpose_B=True, clear_accum=True)
                    for r, c in T.Parallel(block, group):
                        s[r, c] = T.if_then_else(row >= b * block + r, s[r, c], 0)
                    T.gemm(v, do, ds, transpose_B=True, clear_accum=True)
                    T.copy(s, s_half)
                    T.gemm(s_half, do, dv)
                    for r, c in T.Parallel(block, group):
                        ds_half[r, c] = s[r, c] * ds[r, c]
                    T.gemm(ds_half, q, dk)
                    T.copy(ds_half, shown)
                    T.gemm(shown, k, dq, transpose_A=True, clear_accum=True)
                    for r, c in T.Parallel(group, dim):
                        T.atomic_add(DQ[row, h * group + r, c], dq[r, c])
            T.copy(dk, DK[b * block : (b + 1) * block, h, :])
            T.copy(dv, DV[b * block : (b + 1) * block, h, :])

    return main
