"""RMS norm, layer norm and group norm as functions that torch differentiates. Gradients of weights are summed by a fixed number
of programs, each over its share of the rows."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl

PROGRAMS = 4


def settings(n):
    block = triton.next_power_of_2(n)
    return block, 4 if block < 2048 else 8


@triton.jit
def rms_norm_forward(Y, y_row_stride, X, x_row_stride, W, RSTD, n_cols, eps, offset, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(X + row * x_row_stride + cols, mask=mask, other=0)
    x_dtype = x.dtype
    x = x.to(tl.float32)
    w = tl.load(W + cols, mask=mask, other=0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(RSTD + row, rstd)
    tl.store(Y + row * y_row_stride + cols, (x * rstd * (offset + w)).to(x_dtype), mask=mask)


@triton.jit
def rms_norm_backward(
    dY,
    dy_row_stride,
    dX,
    X,
    x_row_stride,
    W,
    RSTD,
    dW,
    dw_row_stride,
    n_rows,
    n_cols,
    offset,
    rows_per_program,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    row_start = pid * rows_per_program
    row_end = min((pid + 1) * rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    dw = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32) + offset
    for row in range(row_start, row_end):
        dy = tl.load(dY + row * dy_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(X + row * x_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(RSTD + row)
        m = dy * w
        dx = rstd * m
        dx += rstd * (-(1 / n_cols) * rstd * rstd * tl.sum(m * x, axis=0) * x)
        dw += dy * (x * rstd)
        tl.store(dX + row * x_row_stride + cols, dx.to(dX.dtype.element_ty), mask=mask)
    tl.store(dW + pid * dw_row_stride + cols, dw, mask=mask)


class RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps, offset=0.0):
        shape = x.shape
        x = x.reshape(-1, shape[-1]).contiguous()
        n_rows, n_cols = x.shape
        block, warps = settings(n_cols)
        y, rstd = torch.empty_like(x), torch.empty(n_rows, dtype=torch.float32, device=x.device)
        rms_norm_forward[(n_rows,)](
            y, y.stride(0), x, x.stride(0), weight, rstd, n_cols, eps, offset, BLOCK_SIZE=block, num_warps=warps
        )
        ctx.save_for_backward(x, weight, rstd)
        ctx.offset, ctx.block, ctx.warps = offset, block, warps
        return y.view(shape)

    @staticmethod
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        n_rows, n_cols = x.shape
        shape = dy.shape
        dy = dy.reshape(-1, n_cols).contiguous()
        dx = torch.empty_like(x)
        dw = torch.empty((PROGRAMS, n_cols), dtype=torch.float32, device=x.device)
        rms_norm_backward[(PROGRAMS,)](
            dy,
            dy.stride(0),
            dx,
            x,
            x.stride(0),
            weight,
            rstd,
            dw,
            dw.stride(0),
            n_rows,
            n_cols,
            ctx.offset,
            triton.cdiv(n_rows, PROGRAMS),
            BLOCK_SIZE=ctx.block,
            num_warps=ctx.warps,
        )
        return dx.view(shape), dw.sum(0).to(weight.dtype), None, None


@triton.jit
def layer_norm_forward(X, Y, W, B, Mean, Rstd, stride, N, eps, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    y = centred * rstd * tl.load(W + cols, mask=mask)
    if HAS_BIAS:
        y += tl.load(B + cols, mask=mask)
    tl.store(Y + cols, y, mask=mask)


@triton.jit
def layer_norm_backward(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    # Rows with the same remainder add to one of GROUP partial sums, one after the other.
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    lock_id = row % GROUP
    Lock += lock_id
    Count = Lock + GROUP
    DW += lock_id * N + cols
    DB += lock_id * N + cols
    x = tl.load(X + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean, rstd = tl.load(Mean + row), tl.load(Rstd + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(DX + row * stride + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        y = torch.empty_like(x)
        flat = x.reshape(-1, x.shape[-1])
        M, N = flat.shape
        mean, rstd = (torch.empty((M,), dtype=torch.float32, device=x.device) for _ in range(2))
        block, warps = settings(N)
        layer_norm_forward[(M,)](
            flat, y, weight, bias, mean, rstd, flat.stride(0), N, eps, bias is not None, block, num_warps=warps, num_ctas=1
        )
        ctx.save_for_backward(flat, weight, mean, rstd)
        ctx.block, ctx.warps = block, warps
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        M, N = x.shape
        groups = 4
        locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
        dw, db = (torch.zeros((groups, N), dtype=weight.dtype, device=x.device) for _ in range(2))
        dx = torch.empty_like(dy)
        layer_norm_backward[(M,)](
            dx,
            dy.contiguous(),
            dw,
            db,
            x,
            weight,
            mean,
            rstd,
            locks,
            x.stride(0),
            N,
            GROUP=groups,
            BLOCK=ctx.block,
            num_warps=ctx.warps,
        )
        return dx, dw.sum(0), db.sum(0), None


@triton.jit
def group_norm_forward(Y, X, Mean, Rstd, W, B, hidden, channels_per_group, size, eps, BLOCK: tl.constexpr):
    batch, group = tl.program_id(0), tl.program_id(1)
    base = (batch * tl.num_programs(1) + group) * hidden
    total = 0.0
    squares = 0.0
    for i in tl.range(0, hidden, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(X + base + at, mask=at < hidden, other=0.0)
        total += tl.sum(x)
        squares += tl.sum(x * x)
    mean = total / hidden
    rstd = tl.rsqrt(squares / hidden - mean * mean + eps)
    tl.store(Mean + batch * tl.num_programs(1) + group, mean)
    tl.store(Rstd + batch * tl.num_programs(1) + group, rstd)
    for channel in range(channels_per_group):
        w = tl.load(W + group * channels_per_group + channel)
        b = tl.load(B + group * channels_per_group + channel)
        for i in range(0, size, BLOCK):
            at = i + tl.arange(0, BLOCK)
            x = tl.load(X + base + channel * size + at, mask=at < size)
            tl.store(Y + base + channel * size + at, (x - mean) * rstd * w + b, mask=at < size)


@triton.jit
def group_norm_backward(
    X, W, Mean, Rstd, dX, dW, dB, dY, hidden, channels_per_group, size, BLOCK: tl.constexpr, dtype: tl.constexpr
):
    batch, group = tl.program_id(0), tl.program_id(1)
    base = (batch * tl.num_programs(1) + group) * hidden
    mean = tl.load(Mean + batch * tl.num_programs(1) + group)
    rstd = tl.load(Rstd + batch * tl.num_programs(1) + group)
    c1, c2 = 0.0, 0.0
    for channel in range(channels_per_group):
        dw, db = 0.0, 0.0
        w = tl.load(W + group * channels_per_group + channel).to(dtype)
        for i in range(0, size, BLOCK):
            at = i + tl.arange(0, BLOCK)
            mask = at < size
            x = tl.load(X + base + channel * size + at, mask=mask, other=0.0)
            dy = tl.load(dY + base + channel * size + at, mask=mask, other=0.0)
            xhat = tl.where(mask, (x - mean) * rstd, 0.0)
            dw += tl.sum(dy * xhat)
            db += tl.sum(dy)
            c1 += tl.sum(xhat * w * dy)
            c2 += tl.sum(w * dy)
        tl.atomic_add(dW + group * channels_per_group + channel, dw.to(dtype))
        tl.atomic_add(dB + group * channels_per_group + channel, db.to(dtype))
    c1, c2 = c1 / hidden, c2 / hidden
    for channel in range(channels_per_group):
        w = tl.load(W + group * channels_per_group + channel).to(dtype)
        for i in range(0, size, BLOCK):
            at = i + tl.arange(0, BLOCK)
            mask = at < size
            x = tl.load(X + base + channel * size + at, mask=mask, other=0.0)
            dy = tl.load(dY + base + channel * size + at, mask=mask, other=0.0)
            dx = (w * dy - ((x - mean) * rstd * c1 + c2)) * rstd
            tl.store(dX + base + channel * size + at, dx, mask=mask)


class GroupNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, groups, weight, bias, eps):
        batch, channels = x.shape[:2]
        size = x[0, 0].numel()
        hidden = channels // groups * size
        y = torch.empty_like(x)
        mean, rstd = (torch.empty(batch, groups, device=x.device) for _ in range(2))
        group_norm_forward[(batch, groups)](
            y,
            x.contiguous(),
            mean,
            rstd,
            weight,
            bias,
            hidden,
            channels // groups,
            size,
            eps,
            BLOCK=min(triton.next_power_of_2(size), 256),
        )
        ctx.save_for_backward(x, weight, mean, rstd)
        ctx.sizes = hidden, channels // groups, size
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        dx, dw, db = torch.empty_like(x), torch.zeros_like(weight), torch.zeros_like(weight)
        group_norm_backward[tuple(mean.shape)](
            x, weight, mean, rstd, dx, dw, db, dy.contiguous(), *ctx.sizes, BLOCK=64, dtype=tl.float32
        )
        return dx, None, dw, db, None
