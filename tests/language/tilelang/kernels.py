"""Programs of the tests."""

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit
def matmul(
    M, N, K, block_M, block_N, block_K, dtype="float16", accum_dtype="float32", num_stages=2, transpose_A=False,
    transpose_B=False, strides=None,
):  # fmt: skip
    """Pipelined, with a ReLU and an epilogue through shared memory."""
    shapes = ((K, M) if transpose_A else (M, K)), ((N, K) if transpose_B else (K, N)), (M, N)
    a, b, c = (
        [T.StridedTensor(*known, dtype) for known in zip(shapes, strides)] if strides else [T.Tensor(s, dtype) for s in shapes]
    )

    @T.prim_func
    def main(A: a, B: b, C: c):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_K, block_M) if transpose_A else (block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K) if transpose_B else (block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            C_shared = T.alloc_shared((block_M, block_N), dtype)
            T.use_swizzle(panel_size=10)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                if transpose_A:
                    T.copy(A[k * block_K, by * block_M], A_shared)
                else:
                    T.copy(A[by * block_M, k * block_K], A_shared)
                if transpose_B:
                    T.copy(B[bx * block_N, k * block_K], B_shared)
                else:
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(
                    A_shared, B_shared, C_local, transpose_A=transpose_A, transpose_B=transpose_B, policy=T.GemmWarpPolicy.FullRow
                )
            for i, j in T.Parallel(block_M, block_N):
                C_local[i, j] = T.max(C_local[i, j], 0)
            T.copy(C_local, C_shared)
            T.copy(C_shared, C[by * block_M, bx * block_N])

    return main


@tilelang.jit
def piecewise(N, block, dtype="float32"):
    """Element-wise code with branches."""

    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block), threads=64) as bx:
            for i in T.Parallel(block):
                k = bx * block + i
                if k < N:
                    if X[k] > 1:
                        Y[k] = 1
                    elif -1 <= X[k] <= 1:
                        Y[k] = X[k] * X[k] if X[k] < 0 else X[k]
                    else:
                        Y[k] = T.abs(X[k]) + 2

    return main


@tilelang.jit(out_idx=2)
def dynamic_add(block_M, block_N, dtype="float32"):
    m, n = T.dynamic("m, n")

    @T.prim_func
    def main(A: T.Tensor((m, n), dtype), B: T.Tensor((m, n), dtype), C: T.Tensor((m, n), dtype)):
        with T.Kernel(T.ceildiv(n, block_N), T.ceildiv(m, block_M)) as (bx, by):
            a = T.alloc_shared((block_M, block_N), dtype)
            b = T.alloc_shared((block_M, block_N), dtype)
            T.copy(A[by * block_M, bx * block_N], a)
            T.copy(B[by * block_M, bx * block_N], b)
            for i, j in T.Parallel(block_M, block_N):
                a[i, j] += b[i, j]
            T.copy(a, C[by * block_M, bx * block_N])

    return main


@tilelang.jit(out_idx=[1])
def convert(M, N, block, source, target):
    @T.prim_func
    def main(A: T.Tensor((M, N), source), B: T.Tensor((M, N), target)):
        with T.Kernel(T.ceildiv(N, block), M) as (bx, by):
            x = T.alloc_fragment((1, block), source)
            T.copy(A[by, bx * block], x)
            T.copy(x, B[by, bx * block])

    return main


@tilelang.jit(out_idx=[3])
def attention(heads, seq_q, seq_k, dim, block_M, block_N):
    """Online softmax: two products in one loop, rows rescaled as the maximum grows."""
    scale = (1.0 / dim) ** 0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor((heads, seq_q, dim), "float32"),
        K: T.Tensor((heads, seq_k, dim), "float32"),
        V: T.Tensor((heads, seq_k, dim), "float32"),
        O: T.Tensor((heads, seq_q, dim), "float32"),
    ):
        with T.Kernel(T.ceildiv(seq_q, block_M), heads, threads=128) as (bx, h):
            Q_shared = T.alloc_shared((block_M, dim), "float32")
            K_shared = T.alloc_shared((block_N, dim), "float32")
            V_shared = T.alloc_shared((block_N, dim), "float32")
            S = T.alloc_fragment((block_M, block_N), "float32")
            acc = T.alloc_fragment((block_M, dim), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            old = T.alloc_fragment((block_M,), "float32")
            scaled = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            T.copy(Q[h, bx * block_M : (bx + 1) * block_M, :], Q_shared)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            for k in T.Pipelined(T.ceildiv(seq_k, block_N), num_stages=2):
                T.copy(K[h, k * block_N : (k + 1) * block_N, :], K_shared)
                for i, j in T.Parallel(block_M, block_N):
                    S[i, j] = T.if_then_else(k * block_N + j < seq_k, 0, -T.infinity(S.dtype))
                T.gemm(Q_shared, K_shared, S, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, old)
                T.reduce_max(S, top, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    scaled[i] = T.exp2(old[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_M, block_N):
                    S[i, j] = T.exp2(S[i, j] * scale - top[i] * scale)
                T.reduce_sum(S, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * scaled[i] + part[i]
                for i, j in T.Parallel(block_M, dim):
                    acc[i, j] *= scaled[i]
                T.copy(V[h, k * block_N : (k + 1) * block_N, :], V_shared)
                T.gemm(S, V_shared, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, dim):
                acc[i, j] /= total[i]
            T.copy(acc, O[h, bx * block_M : (bx + 1) * block_M, :])

    return main


@tilelang.jit(out_idx=[1])
def two_launches(M, N, block):
    """Column sums: partial ones in a workspace, then their sum."""
    blocks = (M + block - 1) // block

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), S: T.Tensor((N,), "float32")):
        partial = T.alloc_global((blocks, N), "float32")
        with T.Kernel(blocks) as bx:
            a = T.alloc_fragment((block, N), "float32")
            s = T.alloc_fragment((N,), "float32")
            T.copy(A[bx * block, 0], a)
            T.reduce_sum(a, s, dim=0)
            T.copy(s, partial[bx, 0])
        with T.Kernel(1) as bx:
            s = T.alloc_fragment((N,), "float32")
            p = T.alloc_fragment((N,), "float32")
            T.clear(s)
            for i in range(blocks):
                T.copy(partial[i, 0], p)
                for j in T.Parallel(N):
                    s[j] += p[j]
            T.copy(s, S)

    return main


@T.macro
def poly(x, scale):
    y = x * scale
    return y * y + 1


@T.macro
def bump(counter: T.Ref, by):
    counter = counter + by


@tilelang.jit
def control(N):
    """alloc_var, while, break, continue, a run-time branch, macros, scalars; one program."""

    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), R: T.Tensor((8,), "int32"), limit: T.int32):
        with T.Kernel(1, threads=1):
            tx = T.get_thread_binding()
            total = T.alloc_var("int32", 0)
            count = T.alloc_var("int32", init=0)
            for i in T.serial(N):
                if A[i] < 0:
                    continue
                if A[i] > limit:
                    break
                total += A[i]
                bump(count, 1)
            R[0] = total
            R[1] = count
            steps = T.alloc_var("int32")
            x = T.alloc_var("int32")
            steps = 0
            x = total + 1
            while x != 1:
                if x % 2 == 0:
                    x = x // 2
                else:
                    x = 3 * x + 1
                steps += 1
            R[2] = steps
            last = T.alloc_var("int32", -1)
            for i in T.serial(N - 1, -1, -2):
                last = i
            R[3] = last + tx
            R[4] = poly(total, 2)
            even = T.alloc_var("int32", 0)
            for i, j in T.grid(3, 4):
                if i != j and (i + j) % 2 == 0:
                    even += i * 10 + j
            R[5] = even
            y = total
            y = y + 1
            R[6], R[7] = y, -7 // 2

    return main


@tilelang.jit
def histogram(N, bins, block):
    @T.prim_func
    def main(X: T.Tensor((N,), "int32"), H: T.Tensor((bins,), "int32")):
        with T.Kernel(T.ceildiv(N, block)) as bx:
            for i in T.Parallel(block):
                if bx * block + i < N:
                    T.atomic_add(H[X[bx * block + i]], 1)

    return main


@tilelang.jit(out_idx=[1])
def split_sum(M, N, block):
    """Every program adds its rows to one output row."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), S: T.Tensor((N,), "float32"), Z: T.Tensor((N,), "float32")):
        with T.Kernel(1):
            z = T.alloc_fragment((N,), "float32")
            T.copy(Z, z)
            T.copy(z, S)
        with T.Kernel(T.ceildiv(M, block)) as bx:
            a = T.alloc_fragment((block, N), "float32")
            s = T.alloc_fragment((N,), "float32")
            T.copy(A[bx * block, 0], a)
            T.reduce_sum(a, s, dim=0)
            T.atomic_add(S, s)

    return main


@tilelang.jit(out_idx=[1])
def running(M, N, kind, dim, reverse):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1):
            a = T.alloc_shared((M, N), "float32")
            T.copy(A, a)
            if kind == "sum":
                T.cumsum(a, dim=dim, reverse=reverse)
            else:
                T.cummax(a, dim=dim, reverse=reverse)
            T.copy(a, B)

    return main


@tilelang.jit(out_idx=[1])
def reductions(M, N, kind, dtype, clear):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), R: T.Tensor((M,), dtype), I: T.Tensor((M,), dtype)):
        with T.Kernel(1):
            a = T.alloc_fragment((M, N), dtype)
            r = T.alloc_fragment((M, 1), dtype)
            T.copy(A, a)
            T.copy(I, r[:, 0])
            if kind == "abssum":
                T.reduce_abssum(a, r, dim=1)
            else:
                T.reduce(a, r, kind, dim=-1, clear=clear)
            T.copy(r[0:M, 0], R)

    return main


def transpose_add(M, N):
    """T.empty outputs, buffer parts, T.transpose, T.view."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32")):
        B = T.empty((N, M), "float32")
        C = T.empty((M * N,), "int32")
        with T.Kernel(1):
            a = T.alloc_shared((M, N), "float32")
            b = T.alloc_shared((N, M), "float32")
            T.copy(A, a)
            T.transpose(a, b)
            T.fill(b[0, 0:M], 5)
            T.copy(b, B)
            T.copy(T.view(a, (M * N,), "int32"), C)
        return B, C

    return main
