"""Loops that take some of their steps only: attention and products whose blocks a mask leaves out, as users write it."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def step(acc, total, top, q, k, v, seen, sm_scale):
    """One block of keys of online softmax."""
    scores = tl.dot(q, k) * (sm_scale * 1.44269504)
    if seen is not None:
        scores = tl.where(seen, scores, -1.0e6)
    new_top = tl.maximum(top, tl.max(scores, 1))
    weights = tl.math.exp2(scores - new_top[:, None])
    old = tl.math.exp2(top - new_top)
    acc = tl.dot(weights.to(v.dtype), v, acc * old[:, None])
    return acc, total * old + tl.sum(weights, 1), new_top


@tileon.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, mask_ptr, sm_scale, N, mask_stride,
    FORM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr
):  # fmt: skip
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * N * D
    offs_m, offs_n, offs_d = block * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, D)
    q = tl.load(q_ptr + base + offs_m[:, None] * D + offs_d[None, :])
    top = tl.full([BLOCK_M], -1.0e30, dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    mask_ptr += block * mask_stride
    k_ptr += base
    v_ptr += base
    if FORM == "counted":  # blocks are counted
        for i in range(0, tl.cdiv(N, BLOCK_N)):
            if tl.load(mask_ptr + i) != 0:
                n = i * BLOCK_N + offs_n
                k = tl.load(k_ptr + n[None, :] * D + offs_d[:, None])
                v = tl.load(v_ptr + n[:, None] * D + offs_d[None, :])
                acc, total, top = step(acc, total, top, q, k, v, None, sm_scale)
    elif FORM == "causal":  # keys are counted, and the last of them masked
        for start in range(0, (block + 1) * BLOCK_M, BLOCK_N):
            if tl.load(mask_ptr + start // BLOCK_N):
                n = start + offs_n
                k = tl.load(k_ptr + n[None, :] * D + offs_d[:, None])
                v = tl.load(v_ptr + n[:, None] * D + offs_d[None, :])
                acc, total, top = step(acc, total, top, q, k, v, offs_m[:, None] >= n[None, :], sm_scale)
    elif FORM == "advanced":  # pointers advance whether a block is taken or not
        k_tile = tl.make_block_ptr(k_ptr, (D, N), (1, D), (0, 0), (D, BLOCK_N), (0, 1))
        v_tile = v_ptr + offs_n[:, None] * D + offs_d[None, :]
        for start in range(0, N, BLOCK_N):
            if tl.load(mask_ptr) != 0:
                acc, total, top = step(acc, total, top, q, tl.load(k_tile), tl.load(v_tile), None, sm_scale)
            k_tile = tl.advance(k_tile, (0, BLOCK_N))
            v_tile += BLOCK_N * D
            mask_ptr += 1
    elif FORM == "kinds":  # 0: nothing, 1: all, 2: keys up to the query's; beyond the diagonal nothing is asked
        for i in range(0, tl.cdiv(N, BLOCK_N)):
            kind = tl.load(mask_ptr + i)
            if kind != 0 and i * BLOCK_N < (block + 1) * BLOCK_M:
                n = i * BLOCK_N + offs_n
                k = tl.load(k_ptr + n[None, :] * D + offs_d[:, None])
                v = tl.load(v_ptr + n[:, None] * D + offs_d[None, :])
                scores = tl.dot(q, k) * (sm_scale * 1.44269504)
                if kind == 2:
                    scores = tl.where(offs_m[:, None] >= n[None, :], scores, -1.0e6)
                new_top = tl.maximum(top, tl.max(scores, 1))
                weights = tl.math.exp2(scores - new_top[:, None])
                old = tl.math.exp2(top - new_top)
                acc = acc * old[:, None] + tl.dot(weights.to(v.dtype), v)
                total = total * old + tl.sum(weights, 1)
                top = new_top
    elif FORM == "bits":  # of a word
        word = tl.load(mask_ptr)
        for i in range(0, tl.cdiv(N, BLOCK_N)):
            if (word >> i) & 1:
                n = i * BLOCK_N + offs_n
                k = tl.load(k_ptr + n[None, :] * D + offs_d[:, None])
                v = tl.load(v_ptr + n[:, None] * D + offs_d[None, :])
                acc, total, top = step(acc, total, top, q, k, v, None, sm_scale)
    elif FORM == "left out":  # the mask names what is left out
        k_tiles = tl.make_tensor_descriptor(k_ptr, [N, D], [D, 1], [BLOCK_N, D])
        v_tiles = tl.make_tensor_descriptor(v_ptr, [N, D], [D, 1], [BLOCK_N, D])
        for i in range(0, tl.cdiv(N, BLOCK_N)):
            if tl.load(mask_ptr + i):
                pass
            else:
                k, v = k_tiles.load([i * BLOCK_N, 0]).T, v_tiles.load([i * BLOCK_N, 0])
                acc, total, top = step(acc, total, top, q, k, v, None, sm_scale)
    acc = acc / tl.maximum(total, 1.0e-30)[:, None]
    tl.store(out_ptr + base + offs_m[:, None] * D + offs_d[None, :], acc.to(out_ptr.dtype.element_ty))


@tilelang.jit
def tilelang_attention(heads, n, d, block_M, block_N, local, causal, noted=False):
    """The mask is read in the loop, or copied before it (`local`); a variable notes whether a block was taken (`noted`)."""
    c = d**-0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((heads, n, d), "float16"),
        K: T.Tensor((heads, n, d), "float16"),
        V: T.Tensor((heads, n, d), "float16"),
        Mask: T.Tensor((n // block_M, n // block_N), "int8"),
        Out: T.Tensor((heads, n, d), "float16"),
    ):
        with T.Kernel(n // block_M, heads, threads=256) as (bx, by):
            q, k = T.alloc_shared((block_M, d), "float16"), T.alloc_shared((block_N, d), "float16")
            v = T.alloc_shared((block_N, d), "float16")
            scores, weights = T.alloc_fragment((block_M, block_N), "float32"), T.alloc_fragment((block_M, block_N), "float16")
            acc = T.alloc_fragment((block_M, d), "float32")
            top, before, scale = (T.alloc_fragment((block_M,), "float32") for _ in range(3))
            added, total = T.alloc_fragment((block_M,), "float32"), T.alloc_fragment((block_M,), "float32")
            mask = T.alloc_local((n // block_N,), "int8")
            if noted:
                seen, last = T.alloc_var("bool"), T.alloc_var("int32")
                seen, last = False, -1
            T.copy(Q[by, bx * block_M : (bx + 1) * block_M, :], q)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -1.0e30)
            if local:
                for i in T.serial(n // block_N):
                    mask[i] = Mask[bx, i]
            for i in T.Pipelined(T.ceildiv((bx + 1) * block_M, block_N) if causal else n // block_N, num_stages=2):
                if (mask[i] if local else Mask[bx, i]) != 0:
                    if noted:
                        seen = True
                        if i > 0:
                            last = i
                    T.copy(K[by, i * block_N : (i + 1) * block_N, :], k)
                    for r, s in T.Parallel(block_M, block_N):
                        scores[r, s] = T.if_then_else(bx * block_M + r >= i * block_N + s, 0, -1.0e6) if causal else 0.0
                    T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                    T.copy(top, before)
                    T.reduce_max(scores, top, dim=1, clear=False)
                    for r in T.Parallel(block_M):
                        scale[r] = T.exp2(before[r] * c - top[r] * c)
                    for r, s in T.Parallel(block_M, block_N):
                        scores[r, s] = T.exp2(scores[r, s] * c - top[r] * c)
                    T.reduce_sum(scores, added, dim=1)
                    for r in T.Parallel(block_M):
                        total[r] = total[r] * scale[r] + added[r]
                    T.copy(scores, weights)
                    for r, s in T.Parallel(block_M, d):
                        acc[r, s] *= scale[r]
                    T.copy(V[by, i * block_N : (i + 1) * block_N, :], v)
                    T.gemm(weights, v, acc, policy=T.GemmWarpPolicy.FullRow)
            if not noted:
                for r, s in T.Parallel(block_M, d):
                    acc[r, s] /= T.max(total[r], 1.0e-30)
            elif seen:
                for r, s in T.Parallel(block_M, d):
                    acc[r, s] *= T.if_then_else(last == n // block_N - 1, 2, 1) / total[r]
            T.copy(acc, Out[by, bx * block_M : (bx + 1) * block_M, :])

    return main


@tilelang.jit
def product(m, n, k, block_M, block_N, block_K):
    """A mask says which blocks of A are not nothing."""

    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, n), "float16"),
        Mask: T.Tensor((m // block_M, k // block_K), "bool"),
        C: T.Tensor((m, n), "float16"),
    ):
        with T.Kernel(n // block_N, m // block_M, threads=256) as (bx, by):
            a, b = T.alloc_shared((block_M, block_K), "float16"), T.alloc_shared((block_K, block_N), "float16")
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for i in T.Pipelined(k // block_K, num_stages=3):
                if Mask[by, i]:
                    T.copy(A[by * block_M, i * block_K], a)
                    T.copy(B[i * block_K, bx * block_N], b)
                    T.gemm(a, b, acc)
            T.copy(acc, C[by * block_M, bx * block_N])

    return main
