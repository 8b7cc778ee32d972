"""Kernels that deal out their own work, as libraries write them; under the name triton."""
from tilery import triton
from tilery.triton import language as tl


@triton.jit
def stream_k_matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Every program does as many steps of K as any other, of one tile of C or several; C holds zeros."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    blocks_n = tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    total = tl.cdiv(M, BLOCK_M) * blocks_n * steps
    at = program * total // programs
    end = (program + 1) * total // programs
    while at < end:
        tile = at // steps
        first = at % steps
        last = tl.minimum(steps, first + end - at)
        offs_m = tile // blocks_n * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = tile % blocks_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(first, last):
            offs_k = step * BLOCK_K + tl.arange(0, BLOCK_K)
            a = tl.load(a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak,
                        mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
            b = tl.load(b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn,
                        mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
        mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
        if last - first == steps:
            tl.store(c_ptrs, acc, mask=mask)
        else:
            tl.atomic_add(c_ptrs, acc, mask=mask)
        at += last - first


@triton.jit
def _attend(acc, l_i, m_i, q, k_base, v_base, lo, hi, stride_n, stride_d, offs_m, N, scale, WINDOW: tl.constexpr,
            BLOCK_N: tl.constexpr, D: tl.constexpr):
    offs_d = tl.arange(0, D)
    for start_n in range(lo, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        there = offs_n < N
        k = tl.load(k_base + offs_n[None, :] * stride_n + offs_d[:, None] * stride_d, mask=there[None, :], other=0.0)
        seen = there[None, :] & (offs_n[None, :] <= offs_m[:, None]) & (offs_n[None, :] > offs_m[:, None] - WINDOW)
        qk = tl.where(seen, tl.dot(q, k) * scale, -1.0e6)
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_base + offs_n[:, None] * stride_n + offs_d[None, :] * stride_d, mask=there[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m_i = m_new
    return acc, l_i, m_i


@triton.jit
def window_attention(Q, K, V, Out, stride_qz, stride_qh, stride_qm, stride_qd, stride_kz, stride_kh, stride_kn, stride_kd,
                     HEADS, N, sm_scale, WINDOW: tl.constexpr, GROUP: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    """GROUP heads of queries share one of keys and values; a query sees itself and the WINDOW - 1 keys before it."""
    batch, head = tl.program_id(1) // HEADS, tl.program_id(1) % HEADS
    start_m = tl.program_id(0) * BLOCK_M
    offs_m, offs_d = start_m + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q_offset = batch.to(tl.int64) * stride_qz + head * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    kv_offset = batch.to(tl.int64) * stride_kz + head // GROUP * stride_kh
    q = tl.load(Q + q_offset, mask=offs_m[:, None] < N, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    lo = tl.maximum(start_m - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    hi = tl.minimum(start_m + BLOCK_M, N)
    acc, l_i, m_i = _attend(acc, l_i, m_i, q, K + kv_offset, V + kv_offset, lo, hi, stride_kn, stride_kd, offs_m, N,
                            sm_scale * 1.44269504, WINDOW, BLOCK_N, D)
    tl.store(Out + q_offset, (acc / l_i[:, None]).to(Out.dtype.element_ty), mask=offs_m[:, None] < N)


@triton.jit
def persistent_linear_gelu(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                           BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """gelu(A @ B.T + bias): each program goes through tiles, by descriptors that it makes."""
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    width = GROUP * blocks_n
    for tile in tl.range(tl.program_id(0), blocks_m * blocks_n, tl.num_programs(0), flatten=True):
        group = tile // width
        group_size = min(blocks_m - group * GROUP, GROUP)
        row = (group * GROUP + tile % width % group_size) * BLOCK_M
        column = tile % width // group_size * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            acc = tl.dot(a_desc.load([row, k * BLOCK_K]), b_desc.load([column, k * BLOCK_K]).T, acc)
        offs_n = column + tl.arange(0, BLOCK_N)
        x = acc + tl.load(bias_ptr + offs_n, mask=offs_n < N, other=0.0)[None, :]
        c_desc.store([row, column], (0.5 * x * (1.0 + tl.math.erf(x * 0.7071067811865476))).to(c_desc.dtype))
