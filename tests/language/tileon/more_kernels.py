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
def split_k_matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    part = tl.program_id(1)
    blocks_m = tl.cdiv(M, BLOCK_M)
    width = GROUP * tl.cdiv(N, BLOCK_N)
    group = pid // width
    group_size = min(blocks_m - group * GROUP, GROUP)
    pid_m = group * GROUP + pid % group_size
    pid_n = (pid % width) // group_size
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = part * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT)):
        rest = K - k * (BLOCK_K * SPLIT)
        a = tl.load(a_ptrs, mask=(offs_k[None, :] < rest) & (offs_m[:, None] < M), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < rest) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * SPLIT * stride_ak
        b_ptrs += BLOCK_K * SPLIT * stride_bk
    c_ptrs = c_ptr + (offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    if SPLIT == 1:
        tl.store(c_ptrs, acc, mask=mask)
    else:
        tl.atomic_add(c_ptrs, acc, mask=mask)


@triton.jit
def group_norm(x_ptr, w_ptr, b_ptr, y_ptr, C, HW, GROUPS: tl.constexpr, eps, BLOCK: tl.constexpr):
    sample = tl.program_id(0) // GROUPS
    group = tl.program_id(0) % GROUPS
    channels = C // GROUPS
    base = (sample * C + group * channels) * HW
    size = channels * HW
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + i, mask=i < size, other=0).to(tl.float32)
        total += x
        squares += x * x
    mean = tl.sum(total, 0) / size
    rstd = tl.rsqrt(tl.sum(squares, 0) / size - mean * mean + eps)
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        mask = i < size
        channel = group * channels + i // HW
        x = tl.load(x_ptr + base + i, mask=mask, other=0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + channel, mask=mask) + tl.load(b_ptr + channel, mask=mask)
        tl.store(y_ptr + base + i, y, mask=mask)


@triton.jit
def rotary_embedding(q_ptr, cos_ptr, sin_ptr, out_ptr, S, H: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    head = tl.arange(0, H)[:, None]
    d = tl.arange(0, D // 2)[None, :]
    cos = tl.load(cos_ptr + row % S * (D // 2) + d)
    sin = tl.load(sin_ptr + row % S * (D // 2) + d)
    first = q_ptr + row * H * D + head * D + d
    x = tl.load(first).to(tl.float32)
    y = tl.load(first + D // 2).to(tl.float32)
    out = out_ptr + row * H * D + head * D + d
    tl.store(out, x * cos - y * sin)
    tl.store(out + D // 2, y * cos + x * sin)


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


@triton.jit
def fused_mlp(x_ptr, w1_ptr, b1_ptr, w2_ptr, out_ptr, M, D, H, N,
              BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_D)
    x = tl.load(x_ptr + rows[:, None] * D + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < D), other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, H, BLOCK_H):
        hidden = start + tl.arange(0, BLOCK_H)
        w1 = tl.load(w1_ptr + inner[:, None] * H + hidden[None, :],
                     mask=(inner[:, None] < D) & (hidden[None, :] < H), other=0.0)
        w2 = tl.load(w2_ptr + hidden[:, None] * N + cols[None, :],
                     mask=(hidden[:, None] < H) & (cols[None, :] < N), other=0.0)
        h = tl.dot(x, w1) + tl.load(b1_ptr + hidden, mask=hidden < H, other=0.0)[None, :]
        acc += tl.dot(tl.maximum(h, 0.0).to(x_ptr.dtype.element_ty), w2)
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


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
