"""Attention of one query a sequence to many keys, as TileLang's users write it: grouped heads with split keys, latent keys."""

import tilelang
import tilelang.language as T


@tilelang.jit
def grouped_split(batch, heads, groups, keys, d, block_N, block_H, splits, stages=2):
    """Grouped heads, keys split over programs; the parts meet in a second kernel."""
    scale = d**-0.5 * 1.44269504
    group = heads // groups
    valid = min(block_H, group)

    @T.prim_func
    def main(
        Q: T.Tensor((batch, heads, d), "float16"),
        K: T.Tensor((batch, keys, groups, d), "float16"),
        V: T.Tensor((batch, keys, groups, d), "float16"),
        Logs: T.Tensor((batch, heads, splits), "float32"),
        Parts: T.Tensor((batch, heads, splits, d), "float32"),
    ):
        with T.Kernel(batch, heads // valid, splits, threads=128) as (bx, by, bz):
            q = T.alloc_shared((block_H, d), "float16")
            k, v = T.alloc_shared((block_N, d), "float16"), T.alloc_shared((block_N, d), "float16")
            scores, weights = T.alloc_fragment((block_H, block_N), "float32"), T.alloc_fragment((block_H, block_N), "float16")
            acc = T.alloc_fragment((block_H, d), "float32")
            top, before, old, part, total = (T.alloc_fragment((block_H,), "float32") for _ in range(5))
            kv_head = by // (group // valid)
            T.copy(Q[bx, by * valid : by * valid + block_H, :], q)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            each = T.ceildiv(keys // splits, block_N)
            for step in T.Pipelined(each, num_stages=stages):
                first = (keys // splits) * bz + step * block_N
                T.copy(K[bx, first : first + block_N, kv_head, :], k)
                T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.fill(top, -T.infinity("float32"))
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(block_H):
                    top[i] = T.max(top[i], before[i])
                for i in T.Parallel(block_H):
                    old[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_H, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - top[i] * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_H):
                    total[i] = total[i] * old[i] + part[i]
                T.copy(scores, weights)
                for i, j in T.Parallel(block_H, d):
                    acc[i, j] *= old[i]
                T.copy(V[bx, first : first + block_N, kv_head, :], v)
                T.gemm(weights, v, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_H, d):
                acc[i, j] /= total[i]
            for i in T.Parallel(block_H):
                total[i] = T.log2(total[i]) + top[i] * scale
            for i in T.Parallel(block_H):
                if i < valid:
                    Logs[bx, by * valid + i, bz] = total[i]
            for i, j in T.Parallel(block_H, d):
                if i < valid:
                    Parts[bx, by * valid + i, bz, j] = acc[i, j]

    return main


@tilelang.jit
def latent_heads(batch, heads, keys, d, rope, block_N, block_H, page=0, stages=2):
    """One latent row a key for all heads (MLA), keys and values from one tile; `page`: keys of a page that a table names."""
    scale = (d + rope) ** -0.5 * 1.44269504
    pages = keys // page if page else 1

    @T.prim_func
    def main(
        Q: T.Tensor((batch, heads, d), "float16"),
        QR: T.Tensor((batch, heads, rope), "float16"),
        KV: T.Tensor((batch * keys, d), "float16"),
        KR: T.Tensor((batch * keys, rope), "float16"),
        Table: T.Tensor((batch, pages), "int32"),
        Out: T.Tensor((batch, heads, d), "float16"),
    ):
        with T.Kernel(heads // block_H, batch, threads=256) as (bx, by):
            q, q_rope = T.alloc_shared((block_H, d), "float16"), T.alloc_shared((block_H, rope), "float16")
            kv, k_rope = T.alloc_shared((block_N, d), "float16"), T.alloc_shared((block_N, rope), "float16")
            weights, out = T.alloc_shared((block_H, block_N), "float16"), T.alloc_shared((block_H, d), "float16")
            scores, acc = T.alloc_fragment((block_H, block_N), "float32"), T.alloc_fragment((block_H, d), "float32")
            top, before, old, part, total = (T.alloc_fragment((block_H,), "float32") for _ in range(5))
            T.copy(Q[by, bx * block_H : (bx + 1) * block_H, :], q)
            T.copy(QR[by, bx * block_H : (bx + 1) * block_H, :], q_rope)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            for step in T.Pipelined(T.ceildiv(keys, block_N), num_stages=stages):
                if page:
                    first = Table[by, step * block_N // page] * page + step * block_N % page
                else:
                    first = by * keys + step * block_N
                T.copy(KV[first : first + block_N, :], kv)
                T.copy(KR[first : first + block_N, :], k_rope)
                T.gemm(q, kv, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                T.gemm(q_rope, k_rope, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.copy(top, before)
                T.fill(top, -T.infinity("float32"))
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(block_H):
                    top[i] = T.max(top[i], before[i])
                for i in T.Parallel(block_H):
                    old[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_H, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - top[i] * scale)
                T.reduce_sum(scores, part, dim=1)
                T.copy(scores, weights)
                for i in T.Parallel(block_H):
                    total[i] = total[i] * old[i] + part[i]
                for i, j in T.Parallel(block_H, d):
                    acc[i, j] *= old[i]
                T.gemm(weights, kv, acc, policy=T.GemmWarpPolicy.FullCol)
            for i, j in T.Parallel(block_H, d):
                acc[i, j] /= total[i]
            T.copy(acc, out)
            T.copy(out, Out[by, bx * block_H : (bx + 1) * block_H, :])

    return main
