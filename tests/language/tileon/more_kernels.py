"""Larger kernels, as tutorials write them; under the name triton."""
from tilery import triton
from tilery.triton import language as tl


@triton.jit
def attention(Q, K, V, Out, stride_h, stride_m, stride_d, N, sm_scale,
              CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    base = head * stride_h
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + base + offs_m[:, None] * stride_m + offs_d[None, :] * stride_d, mask=offs_m[:, None] < N, other=0.0)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    hi = tl.minimum((start_m + 1) * BLOCK_M, N) if CAUSAL else N
    for start_n in range(0, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + offs_n[None, :] * stride_m + offs_d[:, None] * stride_d, mask=offs_n[None, :] < N, other=0.0)
        qk = tl.dot(q, k) * (sm_scale * 1.44269504)
        valid = offs_n[None, :] < N
        if CAUSAL:
            valid = valid & (offs_m[:, None] >= offs_n[None, :])
        qk = tl.where(valid, qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V + base + offs_n[:, None] * stride_m + offs_d[None, :] * stride_d, mask=offs_n[:, None] < N, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
    acc = acc / l_i[:, None]
    tl.store(Out + base + offs_m[:, None] * stride_m + offs_d[None, :] * stride_d, acc.to(Out.dtype.element_ty),
             mask=offs_m[:, None] < N)


@triton.jit
def dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


@triton.jit
def locked_sum(x_ptr, total_ptr, Lock, Count, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    group = pid % GROUP
    Lock += group
    Count += group
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * n + cols, mask=cols < n, other=0.0)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        x += tl.load(total_ptr + group * n + cols, mask=cols < n, other=0.0)
    tl.store(total_ptr + group * n + cols, x, mask=cols < n)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def grouped_gemm(a_ptrs, b_ptrs, c_ptrs, sizes, GROUPS: tl.constexpr, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(GROUPS):
        m = tl.load(sizes + g * 3)
        n = tl.load(sizes + g * 3 + 1)
        k = tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(n, BLOCK)
        tiles = tl.cdiv(m, BLOCK) * tiles_n
        while tile >= last and tile < last + tiles:
            a_ptr = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float32))
            b_ptr = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float32))
            c_ptr = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float32))
            index = tile - last
            rows = index // tiles_n * BLOCK + tl.arange(0, BLOCK)
            cols = index % tiles_n * BLOCK + tl.arange(0, BLOCK)
            acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
            for kk in range(0, tl.cdiv(k, BLOCK)):
                inner = kk * BLOCK + tl.arange(0, BLOCK)
                a = tl.load(a_ptr + rows[:, None] * k + inner[None, :],
                            mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
                b = tl.load(b_ptr + inner[:, None] * n + cols[None, :],
                            mask=(inner[:, None] < k) & (cols[None, :] < n), other=0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc, mask=(rows[:, None] < m) & (cols[None, :] < n))
            tile += PROGRAMS
        last = last + tiles


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"],
                 reset_to_zero=["count_ptr"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, y_ptr, count_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) * 2)
    else:
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)
    tl.atomic_add(count_ptr, 1)
