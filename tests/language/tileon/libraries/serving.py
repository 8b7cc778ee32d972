"""What serving a model takes: attention over pages of keys and values, experts chosen by a router and multiplied in groups,
products of quantised weights, and sampling from the likeliest tokens."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl


@triton.jit
def paged_attention_kernel(
    output_ptr,
    query_ptr,
    key_cache_ptr,
    value_cache_ptr,
    block_tables_ptr,
    seq_lens_ptr,
    scale,
    query_stride_0: tl.int64,
    query_stride_1: tl.int64,
    block_table_stride: tl.int64,
    NUM_QUERIES_PER_KV: tl.constexpr,
    QUERIES_PADDED: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    HEAD_SIZE_PADDED: tl.constexpr,
    SLIDING_WINDOW: tl.constexpr,
    stride_k_0: tl.int64,
    stride_k_1: tl.int64,
    stride_k_2: tl.int64,
    stride_k_3: tl.constexpr,
):
    seq_idx, kv_head = tl.program_id(0), tl.program_id(1)
    query_head = kv_head * NUM_QUERIES_PER_KV + tl.arange(0, QUERIES_PADDED)
    head_mask = query_head < (kv_head + 1) * NUM_QUERIES_PER_KV
    offs_d = tl.arange(0, HEAD_SIZE_PADDED)
    dim_mask = offs_d < HEAD_SIZE
    seq_len = tl.load(seq_lens_ptr + seq_idx)
    query = tl.load(
        query_ptr + seq_idx * query_stride_0 + query_head[:, None] * query_stride_1 + offs_d[None, :],
        mask=dim_mask[None, :] & head_mask[:, None],
        other=0.0,
    )
    M = tl.full([QUERIES_PADDED], float("-inf"), dtype=tl.float32)
    L = tl.full([QUERIES_PADDED], 1.0, dtype=tl.float32)
    acc = tl.zeros([QUERIES_PADDED, HEAD_SIZE_PADDED], dtype=tl.float32)
    num_blocks = tl.cdiv(seq_len, BLOCK_SIZE)
    for j in range(0, num_blocks):
        physical_block_idx = tl.load(block_tables_ptr + seq_idx * block_table_stride + j).to(tl.int64)
        offs_n = tl.arange(0, BLOCK_SIZE)
        k_offset = (
            physical_block_idx * stride_k_0 + kv_head * stride_k_2 + offs_d[:, None] * stride_k_3 + offs_n[None, :] * stride_k_1
        )
        v_offset = (
            physical_block_idx * stride_k_0 + kv_head * stride_k_2 + offs_d[None, :] * stride_k_3 + offs_n[:, None] * stride_k_1
        )
        K = tl.load(key_cache_ptr + k_offset, mask=dim_mask[:, None], other=0.0, eviction_policy="evict_last")
        V = tl.load(value_cache_ptr + v_offset, mask=dim_mask[None, :], other=0.0)
        seq_offset = j * BLOCK_SIZE + offs_n
        seq_mask = seq_offset[None, :] < seq_len
        S = tl.where(head_mask[:, None] & seq_mask, 0.0, float("-inf")).to(tl.float32)
        S += scale * tl.dot(query, K, input_precision="ieee")
        if SLIDING_WINDOW > 0:
            S = tl.where((seq_len - 1 - seq_offset) < SLIDING_WINDOW, S, -10000)
        m_j = tl.maximum(M, tl.max(S, axis=1))
        m_j = tl.where(m_j > float("-inf"), m_j, 0.0)
        P = tl.exp(S - m_j[:, None])
        l_j = tl.sum(P, axis=1)
        alpha = tl.exp(M - m_j)
        acc = acc * alpha[:, None]
        L = L * alpha + l_j
        M = m_j
        acc += tl.dot(P.to(V.dtype), V, input_precision="ieee")
    acc = acc / L[:, None]
    tl.store(
        output_ptr + seq_idx * query_stride_0 + query_head[:, None] * query_stride_1 + offs_d[None, :],
        acc,
        mask=dim_mask[None, :] & head_mask[:, None],
    )


def paged_attention(query, key_cache, value_cache, block_tables, seq_lens, scale, window=0):
    """query: (sequences, heads, dims); caches: (pages, positions, key heads, dims)."""
    sequences, heads, dims = query.shape
    block, kv_heads = key_cache.shape[1:3]
    out = torch.empty_like(query)
    paged_attention_kernel[(sequences, kv_heads)](
        out,
        query,
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        scale,
        query.stride(0),
        query.stride(1),
        block_tables.stride(0),
        NUM_QUERIES_PER_KV=heads // kv_heads,
        QUERIES_PADDED=max(triton.next_power_of_2(heads // kv_heads), 16),
        BLOCK_SIZE=block,
        HEAD_SIZE=dims,
        HEAD_SIZE_PADDED=triton.next_power_of_2(dims),
        SLIDING_WINDOW=window,
        stride_k_0=key_cache.stride(0),
        stride_k_1=key_cache.stride(1),
        stride_k_2=key_cache.stride(2),
        stride_k_3=key_cache.stride(3),
    )
    return out


@triton.jit
def route_kernel(logits_ptr, weights_ptr, ids_ptr, E: tl.constexpr, K: tl.constexpr):
    # The index rides in the low bits of the sorted key, so that one sort gives both.
    row = tl.program_id(0)
    offs = tl.arange(0, E)
    x = tl.load(logits_ptr + row * E + offs)
    key = x.to(tl.uint32, bitcast=True)
    key = tl.where((key >> 31) == 1, ~key, key | 0x80000000)
    packed = (key.to(tl.uint64) << 32) | (E - 1 - offs).to(tl.uint64)
    top = tl.topk(packed, K)
    ids = E - 1 - (top & 0xFFFFFFFF).to(tl.int32)
    key = (top >> 32).to(tl.uint32)
    values = tl.where((key >> 31) == 1, key & 0x7FFFFFFF, ~key).to(tl.float32, bitcast=True)
    weights = tl.softmax(values, 0)
    at = row * K + tl.arange(0, K)
    tl.store(weights_ptr + at, weights)
    tl.store(ids_ptr + at, ids)


@triton.autotune(
    configs=[triton.Config({"BLOCK_N": n, "BLOCK_K": 32}, num_stages=3, num_warps=4) for n in (32, 64)], key=["N", "K"]
)
@triton.jit
def grouped_gemm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    scale_ptr,
    sorted_token_ids_ptr,
    expert_ids_ptr,
    num_valid,
    N,
    K,
    stride_am,
    stride_ak,
    stride_be,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    top_k: tl.constexpr,
    MUL_WEIGHT: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Rows of one expert lie together; a row is number / top_k of a, and number of c."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    expert = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    if expert < 0:
        return
    offs_token = tl.load(sorted_token_ids_ptr + pid_m * BLOCK_M + tl.arange(0, BLOCK_M))
    token_mask = offs_token < num_valid
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + expert * stride_be + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k * BLOCK_K) & (offs_n[None, :] < N), other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if MUL_WEIGHT:
        accumulator *= tl.load(scale_ptr + offs_token, mask=token_mask, other=0)[:, None]
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_n[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=token_mask[:, None] & (offs_n[None, :] < N))


def align_blocks(ids, experts, block):
    """(numbers of tokens by expert, each expert's padded to whole blocks; the expert of each block)."""
    flat = ids.reshape(-1).cpu()
    order, of_block = [], []
    for expert in range(experts):
        own = torch.nonzero(flat == expert).reshape(-1)
        blocks = triton.cdiv(len(own), block)
        order.append(torch.nn.functional.pad(own, (0, blocks * block - len(own)), value=flat.numel()))
        of_block += [expert] * blocks
    return torch.cat(order).to(torch.int32).to(ids.device), torch.tensor(of_block, dtype=torch.int32, device=ids.device)


class ExpertLinear(torch.autograd.Function):
    """Row n of the result: x[n // top_k] @ weight[expert of n], times the router's weight if there is one."""

    @staticmethod
    def forward(ctx, x, weight, ids, scale, top_k):
        experts, K, N = weight.shape
        rows = ids.numel()
        sorted_ids, of_block = align_blocks(ids, experts, 16)
        out = torch.zeros((rows, N), dtype=x.dtype, device=x.device)
        grid = lambda META: (of_block.numel(), triton.cdiv(N, META["BLOCK_N"]))  # noqa: E731
        grouped_gemm_kernel[grid](
            x,
            weight,
            out,
            scale,
            sorted_ids,
            of_block,
            rows,
            N,
            K,
            *x.stride(),
            *weight.stride(),
            *out.stride(),
            top_k=top_k,
            MUL_WEIGHT=scale is not None,
            BLOCK_M=16,
        )
        ctx.save_for_backward(x, weight, ids, scale)
        ctx.top_k = top_k
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight, ids, scale = ctx.saved_tensors
        rows = x.repeat_interleave(ctx.top_k, 0)
        dscale = None
        if scale is not None:
            plain = ExpertLinear.apply(x.detach(), weight.detach(), ids, None, ctx.top_k)
            dscale = (plain * grad).sum(1).view_as(scale)
            grad = grad * scale.reshape(-1, 1)
        back = ExpertLinear.apply(grad.contiguous(), weight.detach().transpose(1, 2), ids, None, 1)
        dx = back.view(-1, ctx.top_k, x.shape[1]).sum(1)
        dw = torch.zeros_like(weight)
        for expert in range(weight.shape[0]):
            own = ids.reshape(-1) == expert
            dw[expert] = rows[own].t() @ grad[own]
        return dx, dw, None, dscale, None


def route(logits, k):
    weights = torch.empty((logits.shape[0], k), device=logits.device)
    ids = torch.empty((logits.shape[0], k), dtype=torch.int32, device=logits.device)
    route_kernel[(logits.shape[0],)](logits, weights, ids, logits.shape[1], k)
    return weights, ids


@triton.jit
def quantize_rows(x_ptr, q_ptr, s_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-10) / 127.0
    scaled = x / scale
    q = (scaled + tl.where(scaled >= 0, 0.5, -0.5)).to(tl.int8)
    tl.store(q_ptr + row * n_cols + cols, q, mask=cols < n_cols)
    tl.store(s_ptr + row, scale)


@triton.jit
def int8_matmul(
    a_ptr, b_ptr, c_ptr, a_scale, b_scale, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rm, rn = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for k in range(0, K, BLOCK_K):
        rk = k + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0)
        acc += tl.dot(a, b, out_dtype=tl.int32)
    scales = tl.load(a_scale + rm, mask=rm < M, other=0.0)[:, None] * tl.load(b_scale + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float32) * scales, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def int4_matmul(
    a_ptr,
    qweight_ptr,
    c_ptr,
    scales_ptr,
    zeros_ptr,
    M,
    N,
    K,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Eight weights of 4 bits along K in an int32; zero points packed along N, one less than they are."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    offs_m, offs_n = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = qweight_ptr + (offs_k[:, None] // 8) * N + offs_n[None, :]
    shifter = (offs_k % 8) * 4
    zeros_shifter = (offs_n % 8) * 4
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        g_id = k * BLOCK_K // GROUP
        scales = tl.load(scales_ptr + g_id * N + offs_n)
        zeros = tl.load(zeros_ptr + g_id * (N // 8) + offs_n // 8)
        zeros = ((zeros >> zeros_shifter) & 0xF) + 1
        a = tl.load(a_ptrs, mask=offs_m[:, None] < M, other=0.0)
        b = tl.load(b_ptrs)
        b = (b >> shifter[:, None]) & 0xF
        b = (b - zeros[None, :]) * scales[None, :]
        accumulator += tl.dot(a, b.to(a.dtype), input_precision="ieee")
        a_ptrs += BLOCK_K
        b_ptrs += (BLOCK_K // 8) * N
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator, mask=offs_m[:, None] < M)


@triton.jit
def top_p_kernel(logits_ptr, probs_ptr, token_ptr, top_p, temperature, seed, V, BLOCK: tl.constexpr):
    """Probabilities of the likeliest tokens that make up top_p together, and one of them by chance."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < V
    x = tl.load(logits_ptr + row * V + offs, mask=mask, other=float("-inf")) / temperature
    e = tl.where(mask, tl.exp(x - tl.max(x, axis=0)), 0.0)
    p = e / tl.sum(e, axis=0)
    ordered = tl.sort(p, descending=True)
    before = tl.cumsum(ordered, axis=0) - ordered
    least = tl.min(tl.where(before < top_p, ordered, float("inf")), axis=0)
    kept = tl.where(p >= least, p, 0.0)
    kept = kept / tl.sum(kept, axis=0)
    tl.store(probs_ptr + row * V + offs, kept, mask=mask)
    # The largest p / e with e exponential is each token with its probability.
    noise = -tl.log(tl.maximum(tl.rand(seed, row * BLOCK + offs), 1e-10))
    tl.store(token_ptr + row, tl.argmax(tl.where(kept > 0, kept / noise, -1.0), axis=0))
