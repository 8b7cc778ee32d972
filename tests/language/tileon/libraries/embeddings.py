"""Rotary positions for queries and keys in place, and an embedding whose gradient is added to by all programs."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl


@triton.jit
def rope_kernel(
    q_ptr,
    q_row_stride,
    k_ptr,
    k_row_stride,
    cos,
    cos_row_stride,
    sin,
    sin_row_stride,
    sl,
    bs: tl.constexpr,
    n_qh: tl.constexpr,
    n_kh: tl.constexpr,
    hd: tl.constexpr,
    pad_n_qh: tl.constexpr,
    pad_n_kh: tl.constexpr,
    pad_hd: tl.constexpr,
    BACKWARD_PASS: tl.constexpr = False,
):
    pid = tl.program_id(0).to(tl.int64)
    q_ptr = q_ptr + pid * q_row_stride
    k_ptr = k_ptr + pid * k_row_stride
    cos_row_idx = pid % sl
    cos = cos + cos_row_idx * cos_row_stride
    sin = sin + cos_row_idx * sin_row_stride
    cos_offsets = tl.arange(0, pad_hd // 2)
    cos_mask = cos_offsets < hd // 2
    cos_row = tl.load(cos + cos_offsets, mask=cos_mask, other=0)
    sin_row = tl.load(sin + cos_offsets, mask=cos_mask, other=0)
    first_half_q_offsets = tl.arange(0, pad_n_qh)[:, None] * hd + tl.arange(0, pad_hd // 2)[None, :]
    first_half_k_offsets = tl.arange(0, pad_n_kh)[:, None] * hd + tl.arange(0, pad_hd // 2)[None, :]
    first_q_mask = (tl.arange(0, pad_n_qh)[:, None] < n_qh) & (tl.arange(0, pad_hd // 2)[None, :] < hd // 2)
    first_k_mask = (tl.arange(0, pad_n_kh)[:, None] < n_kh) & (tl.arange(0, pad_hd // 2)[None, :] < hd // 2)
    q_tile_1 = tl.load(q_ptr + first_half_q_offsets, mask=first_q_mask, other=0).to(sin_row.dtype)
    k_tile_1 = tl.load(k_ptr + first_half_k_offsets, mask=first_k_mask, other=0).to(sin_row.dtype)
    second_half_q_offsets = first_half_q_offsets + (hd // 2)
    second_half_k_offsets = first_half_k_offsets + (hd // 2)
    q_tile_2 = tl.load(q_ptr + second_half_q_offsets, mask=first_q_mask, other=0).to(sin_row.dtype)
    k_tile_2 = tl.load(k_ptr + second_half_k_offsets, mask=first_k_mask, other=0).to(sin_row.dtype)
    if not BACKWARD_PASS:
        new_q_tile_1 = q_tile_1 * cos_row - q_tile_2 * sin_row
        new_q_tile_2 = q_tile_2 * cos_row + q_tile_1 * sin_row
        new_k_tile_1 = k_tile_1 * cos_row - k_tile_2 * sin_row
        new_k_tile_2 = k_tile_2 * cos_row + k_tile_1 * sin_row
    else:
        new_q_tile_1 = q_tile_1 * cos_row + q_tile_2 * sin_row
        new_q_tile_2 = q_tile_2 * cos_row - q_tile_1 * sin_row
        new_k_tile_1 = k_tile_1 * cos_row + k_tile_2 * sin_row
        new_k_tile_2 = k_tile_2 * cos_row - k_tile_1 * sin_row
    tl.store(q_ptr + first_half_q_offsets, new_q_tile_1, mask=first_q_mask)
    tl.store(q_ptr + second_half_q_offsets, new_q_tile_2, mask=first_q_mask)
    tl.store(k_ptr + first_half_k_offsets, new_k_tile_1, mask=first_k_mask)
    tl.store(k_ptr + second_half_k_offsets, new_k_tile_2, mask=first_k_mask)


def rope(q, k, cos, sin, backward):
    """q, k: (batch, heads, positions, dims); the programs see (batch, positions, heads, dims)."""
    q, k = (t.transpose(1, 2).contiguous().clone() for t in (q, k))
    batch, positions, heads, dims = q.shape
    key_heads = k.shape[2]
    rope_kernel[(batch * positions,)](
        q,
        q.stride(1),
        k,
        k.stride(1),
        cos,
        cos.stride(-2),
        sin,
        sin.stride(-2),
        positions,
        batch,
        heads,
        key_heads,
        dims,
        triton.next_power_of_2(heads),
        triton.next_power_of_2(key_heads),
        triton.next_power_of_2(dims),
        BACKWARD_PASS=backward,
    )
    return q.transpose(1, 2), k.transpose(1, 2)


class Rope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin):
        ctx.save_for_backward(cos, sin)
        return rope(q, k, cos, sin, False)

    @staticmethod
    def backward(ctx, dq, dk):
        return (*rope(dq, dk, *ctx.saved_tensors, True), None, None)


@triton.jit
def embedding_forward(table_ptr, index_ptr, out_ptr, n, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    indices = tl.load(index_ptr + rows, mask=rows < n, other=0)
    mask = (rows < n)[:, None] & (columns < dim)[None, :]
    values = tl.load(table_ptr + indices[:, None] * dim + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * dim + columns[None, :], values, mask=mask)


@triton.jit
def embedding_backward(grad_ptr, weight_grad_ptr, index_ptr, n, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    indices = tl.load(index_ptr + rows, mask=rows < n, other=0)
    mask = (rows < n)[:, None] & (columns < dim)[None, :]
    grad = tl.load(grad_ptr + rows[:, None] * dim + columns[None, :], mask=mask, other=0.0)
    tl.atomic_add(weight_grad_ptr + indices[:, None] * dim + columns[None, :], grad, mask=mask)


class Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, indices):
        flat, dim = indices.reshape(-1), table.shape[1]
        out = torch.empty((flat.numel(), dim), dtype=table.dtype, device=table.device)
        ctx.grid = triton.cdiv(flat.numel(), 16), triton.cdiv(dim, 32)
        embedding_forward[ctx.grid](table, flat, out, flat.numel(), dim, BLOCK_M=16, BLOCK_N=32)
        ctx.save_for_backward(flat)
        ctx.rows = table.shape[0]
        return out.view(*indices.shape, dim)

    @staticmethod
    def backward(ctx, grad):
        (flat,) = ctx.saved_tensors
        dim = grad.shape[-1]
        table = torch.zeros((ctx.rows, dim), dtype=grad.dtype, device=grad.device)
        embedding_backward[ctx.grid](grad.contiguous(), table, flat, flat.numel(), dim, BLOCK_M=16, BLOCK_N=32)
        return table, None
