"""C[i] = A[i] @ B[i] with pointers that the second axis of the grid moves; tiles in groups of rows, as in Triton's tutorial."""

import tileon
import tileon.language as tl


@tileon.jit
def batched(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn, stride_cb, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr
):
    pid = tl.program_id(axis=0)
    batch = tl.program_id(axis=1)
    pids_m = tl.cdiv(M, BLOCK_M)
    pids_n = tl.cdiv(N, BLOCK_N)
    per_group = GROUP * pids_n
    first = pid // per_group * GROUP
    rows = min(pids_m - first, GROUP)
    pid_m = first + (pid % per_group) % rows
    pid_n = (pid % per_group) // rows
    a_ptr += batch * stride_ab
    b_ptr += batch * stride_bb
    c_ptr += batch * stride_cb
    m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (m[:, None] * stride_am + k[None, :] * stride_ak)
    b_ptrs = b_ptr + (k[:, None] * stride_bk + n[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - i * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - i * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c = accumulator.to(c_ptr.dtype.element_ty)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * m[:, None] + stride_cn * n[None, :]
    tl.store(c_ptrs, c, mask=(m[:, None] < M) & (n[None, :] < N))
