# Attention by roles that hand each other maxima and weights within a step, or that load a step ahead, as users write it.
import tilelang
import tilelang.language as T

SCALE = 0.125 * 1.44269504


@tilelang.jit
def exchanging(keys, width, rows, block, order):
    """Two consumers, each with the scores of every other block of keys and half of the result's columns; a producer. They show
    each other maxima, then weights. order: which consumer the program writes first."""
    half, steps = width // 2, keys // (2 * block)

    @T.macro
    def consume(w, q, k, v, maxima, sums, weights, ready, free, shown, weighed, Out, bx):
        s, o = T.alloc_fragment((rows, block), "float32"), T.alloc_fragment((rows, half), "float32")
        m, before, peer = (T.alloc_fragment((rows,), "float32") for _ in range(3))
        total, part = T.alloc_fragment((rows,), "float32"), T.alloc_fragment((rows,), "float32")
        T.fill(o, 0)
        T.fill(total, 0)
        T.fill(m, -5e4)
        for i in T.serial(steps):
            T.barrier_wait(ready[w], i & 1)
            T.wgmma_gemm(q, k[w, :, :], s, transpose_B=True, clear_accum=True)
            T.copy(m, before)
            T.wait_wgmma(0)
            T.reduce_max(s, m, dim=1, clear=False)
            T.copy(m, maxima[w, :])
            T.barrier_arrive(shown[w])
            T.barrier_wait(shown[1 - w], i & 1)
            T.copy(maxima[1 - w, :], peer)
            for r in T.Parallel(rows):
                m[r] = T.max(m[r], peer[r])
            for r, c in T.Parallel(rows, half):
                o[r, c] *= T.exp2((before[r] - m[r]) * SCALE)
            for r in T.Parallel(rows):
                total[r] *= T.exp2((before[r] - m[r]) * SCALE)
            for r, c in T.Parallel(rows, block):
                s[r, c] = T.exp2(s[r, c] * SCALE - m[r] * SCALE)
            T.reduce_sum(s, part, dim=1)
            for r in T.Parallel(rows):
                total[r] += part[r]
            T.copy(s, weights[w, :, :])
            T.barrier_arrive(weighed[w])
            T.wgmma_gemm(weights[w, :, :], v[w, :, w * half : (w + 1) * half], o)
            T.barrier_wait(weighed[1 - w], i & 1)
            T.wgmma_gemm(weights[1 - w, :, :], v[1 - w, :, w * half : (w + 1) * half], o)
            T.wait_wgmma(0)
            T.barrier_arrive(free[0])
            T.barrier_arrive(free[1])
        T.copy(total, sums[w, :])
        T.barrier_arrive(shown[w])
        T.barrier_wait(shown[1 - w], steps & 1)
        T.copy(sums[1 - w, :], part)
        for r, c in T.Parallel(rows, half):
            o[r, c] /= total[r] + part[r]
        T.copy(o, Out[bx * rows : (bx + 1) * rows, w * half : (w + 1) * half])

    @T.prim_func
    def main(
        Q: T.Tensor((2 * rows, width), "float16"),
        K: T.Tensor((keys, width), "float16"),
        V: T.Tensor((keys, width), "float16"),
        Out: T.Tensor((2 * rows, width), "float32"),
    ):
        with T.Kernel(2, threads=384) as bx:
            q = T.alloc_shared((rows, width), "float16")
            k, v = T.alloc_shared((2, block, width), "float16"), T.alloc_shared((2, block, width), "float16")
            maxima, sums = T.alloc_shared((2, rows), "float32"), T.alloc_shared((2, rows), "float32")
            weights = T.alloc_shared((2, rows, block), "float16")
            ready, free = T.alloc_barrier([128] * 2), T.alloc_barrier([256] * 2)
            shown, weighed = T.alloc_barrier([128] * 2), T.alloc_barrier([128] * 2)
            T.copy(Q[bx * rows : (bx + 1) * rows, :], q)
            with T.ws(2):
                for i in T.serial(steps):
                    for s in T.unroll(2):
                        T.barrier_wait(free[s], (i & 1) ^ 1)
                        T.tma_copy(K[(2 * i + s) * block : (2 * i + s + 1) * block, :], k[s, :, :], barrier=ready[s])
                        T.tma_copy(V[(2 * i + s) * block : (2 * i + s + 1) * block, :], v[s, :, :], barrier=ready[s])
                        T.barrier_arrive(ready[s])
            for w in order:
                with T.ws(w):
                    consume(w, q, k, v, maxima, sums, weights, ready, free, shown, weighed, Out, bx)

    return main


@tilelang.jit
def ahead(keys, width, rows, block, pieces):
    """One role loads the keys of the next step, in so many pieces of columns, while the other, whose scores are made a step
    ahead, too, weighs values. keys: None, if they are known at run time only."""
    keys = T.dynamic("keys") if keys is None else keys
    steps, piece = T.ceildiv(keys, block), width // pieces

    @T.prim_func
    def main(
        Q: T.Tensor((2 * rows, width), "float16"),
        K: T.Tensor((keys, width), "float16"),
        V: T.Tensor((keys, width), "float16"),
        Out: T.Tensor((2 * rows, width), "float32"),
    ):
        with T.Kernel(2, threads=256) as bx:
            q, k, v = (T.alloc_shared((n, width), "float16") for n in (rows, block, block))
            s, o = T.alloc_fragment((rows, block), "float32"), T.alloc_fragment((rows, width), "float32")
            p = T.alloc_fragment((rows, block), "float16")
            m, before, scale, total, part = (T.alloc_fragment((rows,), "float32") for _ in range(5))
            loaded, used, values, done = (T.alloc_barrier([128] * n) for n in (pieces, 1, 1, 1))
            T.copy(Q[bx * rows : (bx + 1) * rows, :], q)
            with T.ws(0):
                for j in T.unroll(pieces):
                    T.tma_copy(K[0:block, j * piece : (j + 1) * piece], k[:, j * piece : (j + 1) * piece], barrier=loaded[j])
                    T.barrier_arrive(loaded[j])
                for i in T.serial(steps):
                    T.barrier_wait(done, (i & 1) ^ 1)
                    T.tma_copy(V[i * block : (i + 1) * block, :], v, barrier=values)
                    T.barrier_arrive(values)
                    if i < steps - 1:
                        T.barrier_wait(used, i & 1)
                        for j in T.unroll(pieces):
                            T.tma_copy(
                                K[(i + 1) * block : (i + 2) * block, j * piece : (j + 1) * piece],
                                k[:, j * piece : (j + 1) * piece],
                                barrier=loaded[j],
                            )
                            T.barrier_arrive(loaded[j])
            with T.ws(1):
                T.fill(o, 0)
                T.fill(total, 0)
                T.fill(m, -T.infinity("float32"))
                for j in T.unroll(pieces):
                    T.barrier_wait(loaded[j], 0)
                    T.wgmma_gemm(
                        q[:, j * piece : (j + 1) * piece],
                        k[:, j * piece : (j + 1) * piece],
                        s,
                        transpose_B=True,
                        clear_accum=(j == 0),
                    )
                T.wait_wgmma(0)
                for i in T.serial(steps):
                    T.barrier_arrive(used)
                    T.copy(m, before)
                    T.reduce_max(s, m, dim=1, clear=False)
                    for r in T.Parallel(rows):
                        scale[r] = T.exp2((before[r] - m[r]) * SCALE)
                    for r, c in T.Parallel(rows, block):
                        s[r, c] = T.exp2(s[r, c] * SCALE - m[r] * SCALE)
                    T.reduce_sum(s, part, dim=1)
                    for r in T.Parallel(rows):
                        total[r] = total[r] * scale[r] + part[r]
                    T.copy(s, p)
                    for r, c in T.Parallel(rows, width):
                        o[r, c] *= scale[r]
                    T.barrier_wait(values, i & 1)
                    T.wgmma_gemm(p, v, o)
                    T.wait_wgmma(0)
                    T.barrier_arrive(done)
                    if i < steps - 1:
                        for j in T.unroll(pieces):
                            T.barrier_wait(loaded[j], (i + 1) & 1)
                            T.wgmma_gemm(
                                q[:, j * piece : (j + 1) * piece],
                                k[:, j * piece : (j + 1) * piece],
                                s,
                                transpose_B=True,
                                clear_accum=(j == 0),
                            )
                        T.wait_wgmma(0)
                for r, c in T.Parallel(rows, width):
                    o[r, c] /= total[r]
                T.copy(o, Out[bx * rows : (bx + 1) * rows, :])

    return main


@tilelang.jit
def handing(keys, width, rows, block):
    """One consumer makes weights and hands them on, with the factor of what was added before; the other one adds weighed values
    and says when it has read them. Each loads what it multiplies."""
    steps = keys // block

    @T.prim_func
    def main(
        Q: T.Tensor((2 * rows, width), "float16"),
        K: T.Tensor((keys, width), "float16"),
        V: T.Tensor((keys, width), "float16"),
        Out: T.Tensor((2 * rows, width), "float32"),
    ):
        with T.Kernel(2, threads=256) as bx:
            q, k, v = (T.alloc_shared((n, width), "float16") for n in (rows, block, block))
            weights = T.alloc_shared((rows, block), "float16")
            scale, sums = T.alloc_shared((rows,), "float32"), T.alloc_shared((rows,), "float32")
            s, o = T.alloc_fragment((rows, block), "float32"), T.alloc_fragment((rows, width), "float32")
            m, before, total, part = (T.alloc_fragment((rows,), "float32") for _ in range(4))
            weighed, read, ended = T.alloc_barrier(128), T.alloc_barrier(128), T.alloc_barrier(128)
            with T.ws(1):
                T.fill(o, 0)
                for i in T.serial(steps):
                    T.copy(V[i * block : (i + 1) * block, :], v)
                    T.barrier_wait(weighed, i & 1)
                    for r, c in T.Parallel(rows, width):
                        o[r, c] *= scale[r]
                    T.gemm(weights, v, o)
                    T.barrier_arrive(read)
                T.barrier_wait(ended, 0)
                for r, c in T.Parallel(rows, width):
                    o[r, c] /= sums[r]
                T.copy(o, Out[bx * rows : (bx + 1) * rows, :])
            with T.ws(0):
                T.copy(Q[bx * rows : (bx + 1) * rows, :], q)
                T.fill(total, 0)
                T.fill(m, -T.infinity("float32"))
                for i in T.serial(steps):
                    T.copy(K[i * block : (i + 1) * block, :], k)
                    T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                    T.copy(m, before)
                    T.reduce_max(s, m, dim=1, clear=False)
                    for r, c in T.Parallel(rows, block):
                        s[r, c] = T.exp2(s[r, c] * SCALE - m[r] * SCALE)
                    T.reduce_sum(s, part, dim=1)
                    T.barrier_wait(read, (i & 1) ^ 1)
                    for r in T.Parallel(rows):
                        scale[r] = T.exp2((before[r] - m[r]) * SCALE)
                    for r in T.Parallel(rows):
                        total[r] = total[r] * scale[r] + part[r]
                    T.copy(s, weights)
                    T.barrier_arrive(weighed)
                T.copy(total, sums)
                T.barrier_arrive(ended)

    return main
