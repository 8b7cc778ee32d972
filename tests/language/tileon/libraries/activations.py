"""SwiGLU, GeGLU and dropout with the seed instead of the mask."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl
from tilery.tileon.language.extra.libdevice import tanh


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_forward(a_ptr, b_ptr, c_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    a_ptr += program_id * stride
    b_ptr += program_id * stride
    c_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    a_row = tl.load(a_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b_ptr + col_offsets, mask=mask, other=0)
    c_row = silu(a_row).cast(b_row.dtype) * b_row
    tl.store(c_ptr + col_offsets, c_row, mask=mask)


@triton.jit
def swiglu_backward(dc_ptr, a_ptr, b_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    # The gradients take the place of the inputs.
    program_id = tl.program_id(0).to(tl.int64)
    dc_ptr += program_id * stride
    a_ptr += program_id * stride
    b_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dc_row = tl.load(dc_ptr + col_offsets, mask=mask, other=0)
    a_row = tl.load(a_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b_ptr + col_offsets, mask=mask, other=0)
    sig_a = tl.sigmoid(a_row)
    silu_a = a_row * sig_a
    db_row = dc_row * silu_a
    da_row = dc_row * (silu_a * (1 - sig_a) + sig_a) * b_row
    tl.store(a_ptr + col_offsets, da_row, mask=mask)
    tl.store(b_ptr + col_offsets, db_row, mask=mask)


@triton.jit
def geglu_forward(a, b, c, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    a_row = tl.load(a + program_id * stride + cols, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b + program_id * stride + cols, mask=mask, other=0)
    sqrt_2_over_pi = 0.7978845608028654
    tanh_result = tanh(sqrt_2_over_pi * (a_row + 0.044715 * a_row * a_row * a_row))
    tl.store(c + program_id * stride + cols, (0.5 * a_row * (1 + tanh_result)).cast(b_row.dtype) * b_row, mask=mask)


@triton.jit
def geglu_backward(dc, a, b, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    dc_row = tl.load(dc + program_id * stride + cols, mask=mask, other=0)
    a_row = tl.load(a + program_id * stride + cols, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b + program_id * stride + cols, mask=mask, other=0)
    sqrt_2_over_pi = 0.7978845608028654
    tanh_result = tanh(sqrt_2_over_pi * (a_row + 0.044715 * a_row * a_row * a_row))
    geglu_a = 0.5 * a_row * (1 + tanh_result)
    term1 = 0.5 * (1 + tanh_result)
    term2 = 0.5 * a_row * (1 - tanh_result * tanh_result) * (sqrt_2_over_pi * (1 + 3 * 0.044715 * a_row * a_row))
    tl.store(b + program_id * stride + cols, dc_row * geglu_a.cast(b_row.dtype), mask=mask)
    tl.store(a + program_id * stride + cols, dc_row * b_row * (term1 + term2), mask=mask)


class Gated(torch.autograd.Function):
    """act(a) * b."""

    @staticmethod
    def forward(ctx, a, b, kind):
        n_cols = a.shape[-1]
        a, b = (t.reshape(-1, n_cols).contiguous() for t in (a, b))
        c = torch.empty_like(a)
        kernels = {"silu": (swiglu_forward, swiglu_backward), "gelu": (geglu_forward, geglu_backward)}[kind]
        kernels[0][(a.shape[0],)](a, b, c, c.stride(-2), n_cols=n_cols, BLOCK_SIZE=triton.next_power_of_2(n_cols), num_warps=4)
        ctx.save_for_backward(a, b)
        ctx.kernel = kernels[1]
        return c

    @staticmethod
    def backward(ctx, dc):
        a, b = (t.clone() for t in ctx.saved_tensors)
        n_cols = dc.shape[-1]
        ctx.kernel[(a.shape[0],)](dc.contiguous(), a, b, a.stride(-2), n_cols=n_cols, BLOCK_SIZE=triton.next_power_of_2(n_cols))
        return a, b, None


@triton.jit
def seeded_dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    tl.store(output_ptr + offsets, tl.where(x_keep, x / (1 - p), 0.0), mask=mask)


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.p, ctx.seed = p, seed
        return Dropout.run(x, p, seed)

    @staticmethod
    def run(x, p, seed):
        x, out = x.contiguous(), torch.empty_like(x)
        n = x.numel()
        seeded_dropout[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, out, n, p, seed, BLOCK_SIZE=1024)
        return out

    @staticmethod
    def backward(ctx, dy):
        return Dropout.run(dy, ctx.p, ctx.seed), None, None
