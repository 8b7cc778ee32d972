# Attention over rows that a table names, from one buffer of several stages that is multiplied in windows, as users write it.
import tilelang
import tilelang.language as T

BLOCK = 64


@tilelang.jit
def stages(queries, heads, rows, topk, dim, tail, depth, kind):
    """Out[s, h] = attention of Q[s, h] to KV[Indices[s]], of which `dim` columns are the values; -1 is no row."""
    steps, scale = topk // BLOCK, (dim + tail) ** -0.5 * 1.44269504
    inner = depth if kind == "rounds" else 1

    @T.prim_func
    def main(
        Q: T.Tensor((queries, heads, dim + tail), "bfloat16"),
        KV: T.Tensor((rows, dim + tail), "bfloat16"),
        Indices: T.Tensor((queries, topk), "int32"),
        Out: T.Tensor((queries, heads, dim), "bfloat16"),
    ):
        with T.Kernel(queries, threads=256) as s:
            q = T.alloc_shared((heads, dim + tail), "bfloat16")
            kv = T.alloc_shared((depth, BLOCK, dim + tail), "bfloat16")
            valid = T.alloc_shared((depth, BLOCK), "bool")
            left, right = T.alloc_fragment((heads, dim // 2), "float32"), T.alloc_fragment((heads, dim // 2), "float32")
            scores, weights = T.alloc_fragment((heads, BLOCK), "float32"), T.alloc_shared((heads, BLOCK), "bfloat16")
            total, part = T.alloc_fragment((heads,), "float32"), T.alloc_fragment((heads,), "float32")
            most, before = T.alloc_fragment((heads,), "float32"), T.alloc_fragment((heads,), "float32")
            alpha = T.alloc_fragment((heads,), "float32")
            T.copy(Q[s, :, :], q)
            T.clear(total)
            T.fill(most, -(2**30))
            T.clear(left)
            T.clear(right)
            for turn in T.serial(steps // inner):
                for slot in T.unroll(inner):
                    i = turn * inner + slot
                    for j in T.Parallel(BLOCK):
                        valid[i % depth, j] = Indices[s, i * BLOCK + j] >= 0
                    for j, c in T.Parallel(BLOCK, dim + tail):
                        if kind == "all":
                            kv[i % depth, j, c] = KV[Indices[s, i * BLOCK + j], c]
                        elif kind == "branch":
                            if valid[i % depth, j]:
                                kv[i % depth, j, c] = KV[Indices[s, i * BLOCK + j], c]
                        else:
                            kv[i % depth, j, c] = T.if_then_else(valid[i % depth, j], KV[Indices[s, i * BLOCK + j], c], 0)
                    for h, j in T.Parallel(heads, BLOCK):
                        if kind == "bias":
                            scores[h, j] = T.if_then_else(valid[i % depth, j], 0, -1e30)
                        else:
                            scores[h, j] = T.if_then_else(valid[i % depth, j], 0, -T.infinity("float32"))
                    T.gemm(q[:, : dim // 2], kv[i % depth, :, : dim // 2], scores, transpose_B=True)
                    T.gemm(q[:, dim // 2 : dim], kv[i % depth, :, dim // 2 : dim], scores, transpose_B=True)
                    T.gemm(q[:, dim:], kv[i % depth, :, dim:], scores, transpose_B=True)
                    T.copy(most, before)
                    T.reduce_max(scores, most, dim=1, clear=False)
                    for h in T.Parallel(heads):
                        alpha[h] = T.exp2((before[h] - most[h]) * scale)
                    for h, j in T.Parallel(heads, BLOCK):
                        scores[h, j] = T.exp2(scores[h, j] * scale - most[h] * scale)
                    T.reduce_sum(scores, part, dim=1)
                    for h in T.Parallel(heads):
                        total[h] = total[h] * alpha[h] + part[h]
                    for h, c in T.Parallel(heads, dim // 2):
                        left[h, c] *= alpha[h]
                        right[h, c] *= alpha[h]
                    T.copy(scores, weights)
                    T.gemm(weights, kv[i % depth, :, : dim // 2], left)
                    T.gemm(weights, kv[i % depth, :, dim // 2 : dim], right)
            for h, c in T.Parallel(heads, dim // 2):
                left[h, c] /= total[h]
                right[h, c] /= total[h]
            T.copy(left, Out[s, :, : dim // 2])
            T.copy(right, Out[s, :, dim // 2 :])

    return main


@tilelang.jit
def roles(queries, heads, rows, topk, dim, tail, depth, lanes, width, kept):
    """The same by roles: threads of one gather, `lanes` of them a row and `width` elements each (1: a plain copy); two multiply
    the halves of the values. `kept`: an index is a variable from outside of the roles."""
    steps, scale = topk // BLOCK, (dim + tail) ** -0.5 * 1.44269504
    down = 128 // lanes

    @T.prim_func
    def main(
        Q: T.Tensor((queries, heads, dim + tail), "bfloat16"),
        KV: T.Tensor((rows, dim + tail), "bfloat16"),
        Indices: T.Tensor((queries, topk), "int32"),
        Out: T.Tensor((queries, heads, dim), "bfloat16"),
    ):
        with T.Kernel(queries, threads=384) as s:
            q = T.alloc_shared((heads, dim + tail), "bfloat16")
            kv = T.alloc_shared((depth, BLOCK, dim + tail), "bfloat16")
            valid = T.alloc_shared((depth, BLOCK), "bool", scope="shared")
            left, right = T.alloc_fragment((heads, dim // 2), "float32"), T.alloc_fragment((heads, dim // 2), "float32")
            scores, weights = T.alloc_fragment((heads, BLOCK), "float32"), T.alloc_shared((heads, BLOCK), "bfloat16")
            total, part = T.alloc_fragment((heads,), "float32"), T.alloc_fragment((heads,), "float32")
            most, before = T.alloc_fragment((heads,), "float32"), T.alloc_fragment((heads,), "float32")
            alpha, handed = T.alloc_fragment((heads,), "float32"), T.alloc_shared((heads,), "float32", scope="shared")
            totals = T.alloc_shared((heads,), "float32", scope="shared")
            if kept:
                index = T.alloc_var("int32")
            full, empty = T.alloc_barrier([128] * depth), T.alloc_barrier([256] * depth)
            shown, taken = T.alloc_barrier(256), T.alloc_barrier(256)
            T.copy(Q[s, :, :], q)
            tx = T.get_thread_binding()
            if tx < 128:
                T.set_max_nreg(240, 1)
                T.clear(total)
                T.fill(most, -(2**30))
                T.clear(left)
                for i in T.serial(steps):
                    T.barrier_wait(full[i % depth], (i // depth) & 1)
                    for h, j in T.Parallel(heads, BLOCK):
                        scores[h, j] = T.if_then_else(valid[i % depth, j], 0, -T.infinity("float32"))
                    T.gemm(q[:, : dim // 2], kv[i % depth, :, : dim // 2], scores, transpose_B=True)
                    T.gemm(q[:, dim // 2 : dim], kv[i % depth, :, dim // 2 : dim], scores, transpose_B=True)
                    T.gemm(q[:, dim:], kv[i % depth, :, dim:], scores, transpose_B=True)
                    if i != 0:
                        T.barrier_arrive(taken)
                        T.barrier_wait(taken, (i & 1) ^ 1)
                    T.copy(most, before)
                    T.reduce_max(scores, most, dim=1, clear=False)
                    for h in T.Parallel(heads):
                        alpha[h] = T.exp2((before[h] - most[h]) * scale)
                    for h, j in T.Parallel(heads, BLOCK):
                        scores[h, j] = T.exp2(scores[h, j] * scale - most[h] * scale)
                    T.reduce_sum(scores, part, dim=1)
                    for h in T.Parallel(heads):
                        total[h] = total[h] * alpha[h] + part[h]
                    for h, c in T.Parallel(heads, dim // 2):
                        left[h, c] *= alpha[h]
                    T.copy(alpha, handed)
                    T.copy(scores, weights)
                    T.gemm(weights, kv[i % depth, :, : dim // 2], left)
                    T.barrier_arrive(shown)
                    T.barrier_arrive(empty[i % depth])
                for h in T.Parallel(heads):
                    totals[h] = total[h]
                for h, c in T.Parallel(heads, dim // 2):
                    left[h, c] /= total[h]
                T.copy(left, Out[s, :, : dim // 2])
                T.barrier_arrive(shown)
            elif tx < 256:
                T.set_max_nreg(168, 1)
                T.clear(right)
                for i in T.serial(steps):
                    T.barrier_arrive(shown)
                    T.barrier_wait(shown, i & 1)
                    for h, c in T.Parallel(heads, dim // 2):
                        right[h, c] *= handed[h]
                    T.gemm(weights, kv[i % depth, :, dim // 2 : dim], right)
                    T.barrier_arrive(empty[i % depth])
                    if i != steps - 1:
                        T.barrier_arrive(taken)
                T.barrier_arrive(shown)
                T.barrier_wait(shown, steps & 1)
                for h, c in T.Parallel(heads, dim // 2):
                    right[h, c] /= totals[h]
                T.copy(right, Out[s, :, dim // 2 :])
            else:
                T.set_max_nreg(80, 0)
                if not kept:
                    index = T.alloc_var("int32")
                for i in T.serial(steps):
                    T.barrier_wait(empty[i % depth], ((i // depth) & 1) ^ 1)
                    for r in T.serial(BLOCK // down):
                        index = Indices[s, i * BLOCK + r * down + (tx - 256) // lanes]
                        valid[i % depth, r * down + (tx - 256) // lanes] = index >= 0
                        if valid[i % depth, r * down + (tx - 256) // lanes]:
                            for u in T.serial((dim + tail) // (lanes * width)):
                                if width == 1:
                                    kv[i % depth, r * down + (tx - 256) // lanes, u * lanes + tx % lanes] = KV[
                                        index, u * lanes + tx % lanes
                                    ]
                                else:
                                    column = (u * lanes + (tx - 256) % lanes) * width
                                    T.ptx_cp_async(
                                        T.access_ptr(kv[i % depth, r * down + (tx - 256) // lanes, column], "w", width),
                                        T.access_ptr(KV[index, column], "r", width),
                                        width,
                                    )
                    T.cp_async_barrier_noinc(full[i % depth])

    return main
