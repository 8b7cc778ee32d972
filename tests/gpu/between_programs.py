"""What stands between products and combines lanes: columns, lines in order, whole tiles."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def gradients(
    q_ptr, h_ptr, dh_ptr, k_ptr, out_ptr, sums_ptr, N,
    BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr, V: tl.constexpr, REVERSE: tl.constexpr
):  # fmt: skip
    """A sum over columns in each step, then sums, and running sums, of columns of the products' result."""
    row = tl.program_id(0) * BT
    rows, columns = tl.arange(0, BT), tl.arange(0, BK)
    own = (row + rows)[:, None] * BK + columns[None, :]
    acc = tl.zeros([BT, BK], dtype=tl.float32)
    line = tl.zeros([BK], dtype=tl.float32)
    for at in range(0, V, BV):
        inner = at + tl.arange(0, BV)
        q = tl.load(q_ptr + (row + rows)[:, None] * V + inner[None, :])
        h = tl.load(h_ptr + inner[:, None] + columns[None, :] * V)
        dh = tl.load(dh_ptr + inner[:, None] + columns[None, :] * V)
        line += tl.sum(h.to(tl.float32) * dh, axis=0)
        acc = tl.dot(q, h, acc)
        acc = tl.dot(q, dh, acc)
    k = tl.load(k_ptr + own)
    line += tl.sum(acc * k, axis=0)
    before = tl.cumsum(acc, axis=0, reverse=REVERSE)
    tl.store(out_ptr + own, before - acc + line[None, :])
    tl.store(sums_ptr + tl.program_id(0) * BK + columns, tl.max(acc, axis=0))


@tilelang.jit(out_idx=[-2, -1])
def weighted(n, rows, columns, depth, threads):
    """The sums of a product's columns, and of its rows, are factors of what the next one multiplies; a total is carried on."""

    @T.prim_func
    def kernel(
        A: T.Tensor((n, depth), "bfloat16"),
        B: T.Tensor((n * depth, columns), "bfloat16"),
        C: T.Tensor((columns, columns), "bfloat16"),
        D: T.Tensor((n, columns), "float32"),
        E: T.Tensor((n // rows, columns), "float32"),
    ):
        with T.Kernel(n // rows, threads=threads) as i:
            a, b = T.alloc_shared((rows, depth), "bfloat16"), T.alloc_shared((depth, columns), "bfloat16")
            c, p = T.alloc_shared((columns, columns), "bfloat16"), T.alloc_fragment((rows, columns), "bfloat16")
            s, out = T.alloc_fragment((rows, columns), "float32"), T.alloc_fragment((rows, columns), "float32")
            turned = T.alloc_fragment((columns, rows), "float32")
            across, along = T.alloc_fragment((columns,), "float32"), T.alloc_fragment((rows,), "float32")
            total, carried = T.alloc_fragment((1,), "float32"), T.alloc_fragment((columns,), "float32")
            T.clear(out)
            T.clear(carried)
            T.copy(C, c)
            for step in T.Pipelined(2, num_stages=2):
                T.copy(A[i * rows, 0], a)
                T.copy(B[step * depth, 0], b)
                T.gemm(a, b, s, clear_accum=True)
                for r, x in T.Parallel(rows, columns):
                    turned[x, r] = s[r, x]
                T.reduce_sum(turned, across, dim=1, clear=True)
                T.reduce_max(s, along, dim=1, clear=True)
                T.reduce_sum(across, total, dim=0, clear=True)
                for r, x in T.Parallel(rows, columns):
                    p[r, x] = T.if_then_else(s[r, x] * 2 > along[r], 1, 0) + T.if_then_else(across[x] > 0, 1, 0)
                for x in T.Parallel(columns):
                    carried[x] += across[x] + total[0]
                T.gemm(p, c, out)
            T.copy(out, D[i * rows, 0])
            T.copy(carried, E[i, 0])

    return kernel


@tilelang.jit(out_idx=[-1])
def differences(rows, depth, threads):
    """Sums of rows and of columns of one square tile side by side: who holds them are different threads."""

    @T.prim_func
    def kernel(A: T.Tensor((rows, depth), "float16"), B: T.Tensor((rows, depth), "float16"), Out: T.Tensor((2, rows), "float32")):
        with T.Kernel(1, threads=threads) as _:
            a, b = T.alloc_shared((rows, depth), "float16"), T.alloc_shared((rows, depth), "float16")
            s, turned = T.alloc_fragment((rows, rows), "float32"), T.alloc_fragment((rows, rows), "float32")
            ofs, oft = T.alloc_fragment((rows,), "float32"), T.alloc_fragment((rows,), "float32")
            x, y = T.alloc_shared((rows,), "float32"), T.alloc_shared((rows,), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, s, transpose_B=True, clear_accum=True)
            T.reduce_sum(s, ofs, dim=1)
            for i, j in T.Parallel(rows, rows):
                turned[j, i] = s[i, j]
            T.reduce_sum(turned, oft, dim=1)
            T.copy(ofs, x)
            T.copy(oft, y)
            for i in T.Parallel(rows):
                Out[0, i] = x[i] - y[i]
                Out[1, i] = x[i] * 2 + y[i]

    return kernel
