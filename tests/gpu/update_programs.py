# Tiles of products that are added to memory at rows that a table names.
import tilelang
import tilelang.language as T

BLOCK = 64


@tilelang.jit
def scattered(steps, rows, columns, first, wide, depth, dtype, turned, group=BLOCK):
    """C[Rows[s, i], first + j] += (A[s] B)[i, j] for all s, where Rows[s, i] >= 0 and j < columns; turned: of B^T A[s]^T.

    A: (steps, group, depth), B: (depth, wide), C: (rows, first + columns)."""

    @T.prim_func
    def main(
        A: T.Tensor((steps, group, depth), "float16"),
        B: T.Tensor((depth, wide), "float16"),
        Rows: T.Tensor((steps, group), "int32"),
        C: T.Tensor((rows, first + columns), dtype),
    ):
        with T.Kernel(2, threads=128) as block:
            a, b = T.alloc_shared((group, depth), "float16"), T.alloc_shared((depth, wide), "float16")
            sums, across = T.alloc_fragment((group, wide), "float32"), T.alloc_fragment((wide, group), "float32")
            T.copy(B, b)
            for i in T.serial(steps // 2):
                s = block * (steps // 2) + i
                T.copy(A[s, :, :], a)
                if turned:
                    T.gemm(b, a, across, transpose_A=True, transpose_B=True, clear_accum=True)
                    for r, c in T.Parallel(group, wide):
                        if (Rows[s, r] >= 0) & (c < columns):
                            T.atomic_add(C[Rows[s, r], first + c], T.Cast(dtype, across[c, r]))
                else:
                    T.gemm(a, b, sums, clear_accum=True)
                    for r, c in T.Parallel(group, wide):
                        if (Rows[s, r] >= 0) & (c < columns):
                            T.atomic_add(C[Rows[s, r], first + c], T.Cast(dtype, sums[r, c]))

    return main
