# Attention over rows that a table names, from one buffer of several stages that is multiplied in windows, as users write it.
import tilelang
import tilelang.language as T

BLOCK = 64


@tilelang.jit
def stages(queries, heads, rows, topk, dim, tail, depth, kind):
    """O[s, h] = attention of Q[s, h] to KV[Indices[s]] (`dim` columns of it are the values); numbers that are no rows stand for none."""
    steps, scale = topk // BLOCK, (dim + tail) ** -0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((queries, heads, dim + tail), "bfloat16"),
        KV: T.Tensor((rows, dim + tail), "bfloat16"),
        Indices: T.Tensor((queries, topk), "int32"),
        O: T.Tensor((queries, heads, dim), "bfloat16"),
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
            for i in T.serial(steps):
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
            T.copy(left, O[s, :, : dim // 2])
            T.copy(right, O[s, :, dim // 2 :])

    return main
