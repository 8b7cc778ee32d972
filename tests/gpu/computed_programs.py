"""Products both of whose factors are computed in f32, in registers, in several spellings."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def states(k_ptr, v_ptr, g_ptr, h_ptr, out_ptr, N, BT: tl.constexpr, K: tl.constexpr, V: tl.constexpr, TURNED: tl.constexpr):
    """States of a recurrence: rows weighted, turned, times rows weighted."""
    rows, keys, values = tl.arange(0, BT), tl.arange(0, K), tl.arange(0, V)
    state = tl.zeros([K, V], dtype=tl.float32)
    for at in range(0, N, BT):
        tl.store(h_ptr + at // BT * K * V + keys[:, None] * V + values[None, :], state)
        g = tl.load(g_ptr + at + rows)
        if TURNED:
            k = tl.load(k_ptr + (at + rows)[:, None] * K + keys[None, :])
            kg = tl.trans(k.to(tl.float32) * g[:, None])
        else:
            k = tl.load(k_ptr + (at + rows)[None, :] * K + keys[:, None])
            kg = k.to(tl.float32) * g[None, :]
        v = tl.load(v_ptr + (at + rows)[:, None] * V + values[None, :])
        state = tl.dot(kg, v.to(tl.float32) + g[:, None], state, input_precision="tf32")
    tl.store(out_ptr + keys[:, None] * V + values[None, :], state)


@tilelang.jit(out_idx=[-1])
def gradients(n, rows, keys, values, threads, stages):
    """Factors in buffers that lie along k; the sums are rounded, and a factor themselves, in the same step."""

    @T.prim_func
    def kernel(
        Q: T.Tensor((n, keys), "bfloat16"),
        D: T.Tensor((n, values), "bfloat16"),
        G: T.Tensor((n,), "float32"),
        Out: T.Tensor((keys, values), "float32"),
    ):
        with T.Kernel(1, threads=threads) as _:
            q, d = T.alloc_shared((rows, keys), "bfloat16"), T.alloc_shared((rows, values), "bfloat16")
            g = T.alloc_shared((rows,), "float32")
            qf, qt = T.alloc_fragment((rows, keys), "float32"), T.alloc_fragment((keys, rows), T.tfloat32)
            df, dt = T.alloc_fragment((rows, values), "float32"), T.alloc_fragment((values, rows), T.tfloat32)
            ds, low = T.alloc_shared((values, rows), T.tfloat32), T.alloc_shared((keys, values), "bfloat16")
            acc, own = T.alloc_fragment((keys, values), "float32"), T.alloc_fragment((rows, values), "float32")
            T.clear(acc)
            for step in T.Pipelined(n // rows, num_stages=stages):
                T.copy(acc, low)
                T.copy(Q[step * rows, 0], q)
                T.gemm(q, low, own, clear_accum=True)
                T.copy(D[step * rows, 0], d)
                T.copy(G[step * rows], g)
                T.copy(q, qf)
                for r, x in T.Parallel(rows, keys):
                    qt[x, r] = qf[r, x] * g[r]
                T.copy(d, df)
                for r, x in T.Parallel(rows, values):
                    dt[x, r] = df[r, x] + T.if_then_else(own[r, x] > 0, 1, 0)
                T.copy(dt, ds)
                T.gemm(qt, ds, acc, transpose_B=True)
            T.copy(acc, Out)

    return kernel


@tilelang.jit(out_idx=[-1])
def scan(n, rows, cols, keys, step, threads, stages, causal):
    """A product in front of a loop whose steps weight and mask a tile that they load, and multiply it; and work behind it."""

    @T.prim_func
    def kernel(
        C: T.Tensor((n, keys), "float16"),
        S: T.Tensor((n // rows, cols, keys), "float16"),
        W: T.Tensor((n, n), "float16"),
        G: T.Tensor((n,), "float16"),
        X: T.Tensor((n, cols), "float16"),
        Out: T.Tensor((n, cols), "float16"),
    ):
        with T.Kernel(n // rows, threads=threads) as p:
            c, s = T.alloc_shared((rows, keys), "float16"), T.alloc_shared((cols, keys), "float16")
            w, wl = T.alloc_shared((rows, step), "float16"), T.alloc_fragment((rows, step), "float16")
            g, gl = T.alloc_shared((step,), "float16"), T.alloc_fragment((step,), "float32")
            x, rest = T.alloc_shared((step, cols), "float16"), T.alloc_shared((rows, cols), "float16")
            acc, low = T.alloc_fragment((rows, cols), "float32"), T.alloc_shared((rows, cols), "float16")
            T.clear(acc)
            T.copy(C[p * rows, 0], c)
            T.copy(S[p, :, :], s)
            T.gemm(c, s, acc, transpose_B=True)
            for i, j in T.Parallel(rows, cols):
                acc[i, j] *= 2
            for k in T.Pipelined(T.ceildiv((p + 1) * rows, step) if causal else n // step, num_stages=stages):
                T.copy(W[p * rows, k * step], w)
                T.copy(w, wl)
                T.copy(G[k * step], g)
                T.copy(g, gl)
                for i, j in T.Parallel(rows, step):
                    wl[i, j] = wl[i, j] * gl[j]
                if causal:
                    for i, j in T.Parallel(rows, step):
                        wl[i, j] = T.if_then_else(p * rows + i >= k * step + j, wl[i, j], 0)
                T.copy(X[k * step, 0], x)
                T.gemm(wl, x, acc)
            T.copy(X[p * rows, 0], rest)
            for i, j in T.Parallel(rows, cols):
                acc[i, j] += rest[i, j]
            T.copy(acc, low)
            T.copy(low, Out[p * rows, 0])

    return kernel


@tilelang.jit(out_idx=[-1])
def keys_and_values(rows, n, wide, step, dtype, threads, stages, values_first):
    """Keys that are values, too, in 8 bits (or doubled): one computed tile is multiplied as it lies, and turned."""

    @T.prim_func
    def kernel(
        Q: T.Tensor((2 * rows, wide), "float16"),
        KV: T.Tensor((n, wide), dtype),
        W: T.Tensor((2 * rows, n), "float16"),
        Out: T.Tensor((2 * rows, wide), "float32"),
    ):
        with T.Kernel(2, threads=threads) as p:
            q, w = T.alloc_shared((rows, wide), "float16"), T.alloc_shared((rows, step), "float16")
            loaded, kv = T.alloc_shared((step, wide), dtype), T.alloc_shared((step, wide), "float16")
            scores, low = T.alloc_fragment((rows, step), "float32"), T.alloc_shared((rows, step), "float16")
            acc, seen = T.alloc_fragment((rows, wide), "float32"), T.alloc_fragment((rows,), "float32")
            T.copy(Q[p * rows, 0], q)
            T.clear(acc)
            T.clear(seen)
            for k in T.Pipelined(n // step, num_stages=stages):
                T.copy(KV[k * step, 0], loaded)
                if dtype == "float16":
                    for i, j in T.Parallel(step, wide):
                        kv[i, j] = loaded[i, j] * 2
                else:
                    T.copy(loaded, kv)
                if values_first:
                    T.copy(W[p * rows, k * step], w)
                    T.gemm(w, kv, acc)
                T.gemm(q, kv, scores, transpose_B=True, clear_accum=True)
                if values_first:
                    T.reduce_sum(scores, seen, dim=1, clear=False)
                else:
                    T.copy(scores, low)
                    T.gemm(low, kv, acc)
            for i, j in T.Parallel(rows, wide):
                acc[i, j] += seen[i]
            T.copy(acc, Out[p * rows, 0])

    return kernel
