"""Attention of one query a sequence to many keys: grouped heads, split keys, pages, latent keys; as users write it."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def grouped(
    q_ptr, k_ptr, v_ptr, out_ptr, log_ptr, lengths, table, sm_scale, keys,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, SPLITS: tl.constexpr, PAGE: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, VARIES: tl.constexpr,
):  # fmt: skip
    """A part of the keys for the heads of one group. PAGE: keys of a page in a pool (0: sequences lie in order; 1: each key
    has a page); VARIES: sequences have lengths of their own."""
    batch, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    GROUP: tl.constexpr = HEADS // KV_HEADS
    offs_h, offs_d = tl.arange(0, BLOCK_H), tl.arange(0, D)
    head = kv_head * GROUP + offs_h
    mask_h = offs_h < GROUP
    q = tl.load(q_ptr + (batch * HEADS + head[:, None]) * D + offs_d[None, :], mask=mask_h[:, None], other=0.0)
    length = keys
    if VARIES:
        length = tl.load(lengths + batch)
    each = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK_N) * BLOCK_N
    begin = split * each
    end = tl.minimum(begin + each, length)
    top = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, D], dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        if PAGE == 0:
            row = batch * keys + n
        elif PAGE == 1:
            row = tl.load(table + batch * keys + n, mask=n < end, other=0)
        else:
            page = tl.load(table + batch * (keys // PAGE) + start // PAGE)
            row = page * PAGE + start % PAGE + tl.arange(0, BLOCK_N)
        place = row * (KV_HEADS * D) + kv_head * D
        k = tl.load(k_ptr + place[None, :] + offs_d[:, None], mask=n[None, :] < end, other=0.0)
        scores = tl.dot(q, k) * (sm_scale * 1.44269504)
        scores = tl.where(mask_h[:, None] & (n[None, :] < end), scores, float("-inf"))
        v = tl.load(v_ptr + place[:, None] + offs_d[None, :], mask=n[:, None] < end, other=0.0)
        new_top = tl.maximum(top, tl.max(scores, 1))
        old = tl.math.exp2(top - new_top)
        weights = tl.math.exp2(scores - new_top[:, None])
        acc = acc * old[:, None]
        acc += tl.dot(weights.to(v.dtype), v)
        total = total * old + tl.sum(weights, 1)
        top = new_top
    place = (batch * HEADS + head) * SPLITS + split
    tl.store(out_ptr + place[:, None] * D + offs_d[None, :], acc / total[:, None], mask=mask_h[:, None])
    tl.store(log_ptr + place, top + tl.math.log2(total), mask=mask_h)


@tileon.jit
def combine(part_ptr, log_ptr, out_ptr, SPLITS: tl.constexpr, D: tl.constexpr):
    """The parts of one head's keys, by the logarithms (of base 2) of their sums."""
    row = tl.program_id(0)
    split, offs_d = tl.arange(0, SPLITS), tl.arange(0, D)
    logs = tl.load(log_ptr + row * SPLITS + split)
    weights = tl.math.exp2(logs - tl.max(logs, 0))
    parts = tl.load(part_ptr + (row * SPLITS + split)[:, None] * D + offs_d[None, :])
    out = tl.sum(parts * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(out_ptr + row * D + offs_d, out.to(out_ptr.dtype.element_ty))


@tileon.jit
def latent(
    q_ptr, kv_ptr, out_ptr, log_ptr, table, lengths, sm_scale, keys,
    HEADS: tl.constexpr, SPLITS: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, DR: tl.constexpr,
):  # fmt: skip
    """One latent row of D + DR a key for all heads (MLA), rows found by a table; values are the first D of it."""
    batch, block, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    head = block * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_d, offs_r = tl.arange(0, D), D + tl.arange(0, DR)
    mask_h = head < HEADS
    q_row = (batch * HEADS + head[:, None]) * (D + DR)
    q = tl.load(q_ptr + q_row + offs_d[None, :], mask=mask_h[:, None], other=0.0)
    q_rope = tl.load(q_ptr + q_row + offs_r[None, :], mask=mask_h[:, None], other=0.0)
    length = tl.load(lengths + batch)
    each = tl.cdiv(length, SPLITS)
    begin = split * each
    end = tl.minimum(begin + each, length)
    top = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, D], dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        row = tl.load(table + batch * keys + n, mask=n < end, other=0)
        k = tl.load(kv_ptr + row[None, :] * (D + DR) + offs_d[:, None], mask=n[None, :] < end, other=0.0)
        scores = tl.dot(q, k)
        rope = tl.load(kv_ptr + row[None, :] * (D + DR) + offs_r[:, None], mask=n[None, :] < end, other=0.0)
        scores += tl.dot(q_rope, rope)
        scores *= sm_scale * 1.44269504
        scores = tl.where(n[None, :] < end, scores, float("-inf"))
        v = tl.trans(k)
        new_top = tl.maximum(top, tl.max(scores, 1))
        old = tl.math.exp2(top - new_top)
        weights = tl.math.exp2(scores - new_top[:, None])
        acc = acc * old[:, None] + tl.dot(weights.to(v.dtype), v)
        total = total * old + tl.sum(weights, 1)
        top = new_top
    place = (batch * HEADS + head) * SPLITS + split
    tl.store(out_ptr + place[:, None] * D + offs_d[None, :], acc / total[:, None], mask=mask_h[:, None])
    tl.store(log_ptr + place, top + tl.math.log2(total), mask=mask_h)


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
