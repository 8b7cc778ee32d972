"""Matrix products as programs around them want them: other types, other work on the result, batches, other orders of programs."""

import tilelang
import tilelang.language as T
import tileon
import tileon.language as tl


@tileon.jit
def linear(
    x, w, out, bias, residual, M, N, K, scale,
    stride_x, stride_w, stride_out,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    HAS_BIAS: tl.constexpr, HAS_RESIDUAL: tl.constexpr, PRECISION: tl.constexpr
):
    """out = relu(scale * x @ w.T + bias) + residual, tiles in groups of GROUP rows; k is contiguous in x and w."""
    pid = tl.program_id(0)
    pids_m = tl.cdiv(M, BLOCK_M)
    pids_n = tl.cdiv(N, BLOCK_N)
    per_group = GROUP * pids_n
    first = pid // per_group * GROUP
    rows = min(pids_m - first, GROUP)
    pid_m = first + (pid % per_group) % rows
    pid_n = (pid % per_group) // rows
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_ptrs = x + m[:, None] * stride_x + k[None, :]
    w_ptrs = w + n[None, :] * stride_w + k[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32 if x.dtype.element_ty == tl.int8 else tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - i * BLOCK_K
        a = tl.load(x_ptrs, mask=(m[:, None] < M) & (k[None, :] < left), other=0)
        b = tl.load(w_ptrs, mask=(n[None, :] < N) & (k[:, None] < left), other=0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K
    y = acc
    if HAS_BIAS:
        y = y * scale + tl.load(bias + n, mask=n < N, other=0.0)[None, :]
        y = tl.maximum(y, 0.0)
    inside = (m[:, None] < M) & (n[None, :] < N)
    place = m[:, None] * stride_out + n[None, :]
    if HAS_RESIDUAL:
        y += tl.load(residual + place, mask=inside, other=0.0)
    tl.store(out + place, y.to(out.dtype.element_ty), mask=inside)


@tileon.jit
def scaled(
    x, w, out, scale_x, scale_w, M, N, K,
    stride_x, stride_w, stride_out,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ROWS: tl.constexpr
):
    """out = (x @ w.T) * scale_x * scale_w, as for 8-bit floats: scales of the tensors, or (ROWS) of their rows."""
    columns = tl.cdiv(N, BLOCK_N)
    m = tl.program_id(0) // columns * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) % columns * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        k = i * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(x + m[:, None] * stride_x + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(w + n[None, :] * stride_w + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc = tl.dot(a, b, acc)
    if ROWS:
        acc *= tl.load(scale_x + m, mask=m < M)[:, None] * tl.load(scale_w + n, mask=n < N)[None, :]
    else:
        acc *= tl.load(scale_x) * tl.load(scale_w)
    tl.store(out + m[:, None] * stride_out + n[None, :], acc.to(out.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@tilelang.jit
def batched(B, M, N, K, block_M, block_N, block_K, dtype="bfloat16"):
    @T.prim_func
    def main(X: T.Tensor((B, M, K), dtype), W: T.Tensor((B, K, N), dtype), Y: T.Tensor((B, M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), B, threads=256) as (bx, by, bz):
            X_shared = T.alloc_shared((block_M, block_K), dtype)
            W_shared = T.alloc_shared((block_K, block_N), dtype)
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(X[bz, by * block_M, k * block_K], X_shared)
                T.copy(W[bz, k * block_K, bx * block_N], W_shared)
                T.gemm(X_shared, W_shared, acc)
            T.copy(acc, Y[bz, by * block_M, bx * block_N])

    return main


@tilelang.jit
def swapped_axes(M, N, K, block_M, block_N, block_K, dtype="bfloat16"):
    @T.prim_func
    def main(X: T.Tensor((M, K), dtype), W: T.Tensor((K, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), T.ceildiv(N, block_N), threads=256) as (by, bx):
            X_shared = T.alloc_shared((block_M, block_K), dtype)
            W_shared = T.alloc_shared((block_K, block_N), dtype)
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(X[by * block_M, k * block_K], X_shared)
                T.copy(W[k * block_K, bx * block_N], W_shared)
                T.gemm(X_shared, W_shared, acc)
            T.copy(acc, Y[by * block_M, bx * block_N])

    return main
