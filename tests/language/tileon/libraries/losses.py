"""Losses that compute their gradient in the forward pass: cross entropy (with label smoothing, z-loss, soft cap), the same fused
with the linear layer before it, and the divergences of Kullback and Leibler and of Jensen and Shannon."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl
from tilery.tileon.language.extra.libdevice import tanh

MAX_FUSED_SIZE = 256


@triton.jit
def cross_entropy_kernel(
    X_ptr,
    X_stride,
    Y_ptr,
    Y_stride,
    loss_ptr,
    z_loss_ptr,
    loss_stride,
    n_cols,
    n_non_ignore,
    ignore_index,
    lse_square_scale: tl.constexpr,
    label_smoothing: tl.constexpr,
    reduction: tl.constexpr,
    softcap,
    BLOCK_SIZE: tl.constexpr,
    HAS_SOFTCAPPING: tl.constexpr,
):
    program_id = tl.program_id(0).to(tl.int64)
    Y_ptr += program_id * Y_stride
    y = tl.load(Y_ptr)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return
    loss_ptr += program_id * loss_stride
    z_loss_ptr += program_id * loss_stride
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y).cast(tl.float32)
    if HAS_SOFTCAPPING:
        ori_X_y = softcap * tanh(ori_X_y / softcap)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        if HAS_SOFTCAPPING:
            X_block = tl.where(X_offsets < n_cols, softcap * tanh(X_block / softcap), float("-inf"))
        block_max = tl.max(X_block)
        if label_smoothing > 0:
            scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        intermediate = tl.zeros_like(X_block)
        if HAS_SOFTCAPPING:
            intermediate = tanh(X_block / softcap)
            X_block = softcap * intermediate
        X_block = tl.exp(X_block - m) / d
        X_block += 2 * lse_square_scale * lse * X_block
        X_block += -eps
        X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
        if reduction == "mean":
            X_block = X_block / n_non_ignore
        if HAS_SOFTCAPPING:
            X_block = X_block * (1 - intermediate * intermediate)
        tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    tl.debug_barrier()
    loss = lse - ori_X_y
    if label_smoothing > 0:
        smooth_loss = scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth_loss
    z_loss = lse_square_scale * lse * lse
    loss += z_loss
    if reduction == "mean":
        z_loss = z_loss / n_non_ignore
        loss = loss / n_non_ignore
    tl.store(loss_ptr, loss)
    tl.store(z_loss_ptr, z_loss)


def cross_entropy_forward(x, target, ignore_index, lse_square_scale, label_smoothing, reduction, softcap, count=None):
    """(sum or mean of the losses, gradient): the gradient takes the place of x."""
    BT, V = x.shape
    loss, z_loss = (torch.zeros(BT, dtype=torch.float32, device=x.device) for _ in range(2))
    count = (target != ignore_index).sum().item() if count is None else count
    if x.stride(-1) != 1:
        x = x.contiguous()
    cross_entropy_kernel[(BT,)](
        X_ptr=x,
        X_stride=x.stride(-2),
        Y_ptr=target,
        Y_stride=target.stride(-1),
        loss_ptr=loss,
        z_loss_ptr=z_loss,
        loss_stride=loss.stride(-1),
        n_cols=V,
        n_non_ignore=count,
        ignore_index=ignore_index,
        lse_square_scale=lse_square_scale,
        label_smoothing=label_smoothing,
        reduction=reduction,
        softcap=softcap if softcap is not None else 0.0,
        BLOCK_SIZE=min(MAX_FUSED_SIZE, triton.next_power_of_2(V)),
        HAS_SOFTCAPPING=softcap is not None,
        num_warps=8,
    )
    return loss.sum(), x


@triton.jit
def element_mul_kernel(X_ptr, X_stride, grad_output_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    X_ptr += tl.program_id(0).to(tl.int64) * X_stride
    grad_output = tl.load(grad_output_ptr)
    for i in range(0, n_cols, BLOCK_SIZE):
        at = i + tl.arange(0, BLOCK_SIZE)
        tl.store(X_ptr + at, tl.load(X_ptr + at, mask=at < n_cols) * grad_output, mask=at < n_cols)


def scaled(x, factor):
    if torch.equal(factor, torch.tensor(1.0, device=factor.device)):
        return x
    flat = x.view(-1, x.shape[-1])
    element_mul_kernel[(flat.shape[0],)](flat, flat.stride(-2), factor, flat.shape[1], BLOCK_SIZE=128)
    return x


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, target, ignore_index=-100, lse_square_scale=0.0, label_smoothing=0.0, reduction="mean", softcap=None):
        loss, grad = cross_entropy_forward(
            x.detach().clone(), target, ignore_index, lse_square_scale, label_smoothing, reduction, softcap
        )
        ctx.save_for_backward(grad)
        return loss

    @staticmethod
    def backward(ctx, grad_output):
        (grad,) = ctx.saved_tensors
        return scaled(grad, grad_output), None, None, None, None, None, None


class FusedLinearCrossEntropy(torch.autograd.Function):
    """cross_entropy(x @ weight.T + bias) without all logits at once: rows in chunks."""

    @staticmethod
    def forward(ctx, x, weight, target, bias=None, ignore_index=-100, chunk=8):
        BT = x.shape[0]
        loss = torch.zeros((), dtype=torch.float32, device=x.device)
        dx, dw = torch.zeros_like(x), torch.zeros_like(weight)
        db = torch.zeros_like(bias) if bias is not None else None
        count = (target != ignore_index).sum().item()
        for start in range(0, BT, chunk):
            rows = slice(start, min(start + chunk, BT))
            logits = x[rows] @ weight.t()
            if bias is not None:
                logits = logits + bias
            part, grad = cross_entropy_forward(
                logits.contiguous(), target[rows].contiguous(), ignore_index, 0.0, 0.0, "mean", None, count
            )
            loss += part
            dx[rows] = grad @ weight
            dw += grad.t() @ x[rows]
            if db is not None:
                db += grad.sum(0)
        ctx.save_for_backward(dx, dw, db)
        return loss

    @staticmethod
    def backward(ctx, grad_output):
        dx, dw, db = ctx.saved_tensors
        return (
            scaled(dx, grad_output),
            scaled(dw, grad_output),
            None,
            scaled(db, grad_output) if db is not None else None,
            None,
            None,
        )


@triton.jit
def kldiv_forward(
    y_ptr,
    y_stride,
    gt_ptr,
    gt_stride,
    loss_ptr,
    loss_stride,
    n_cols,
    eps,
    BLOCK_SIZE: tl.constexpr,
    log_target: tl.constexpr = False,
    reduction: tl.constexpr = 3,
):
    pid = tl.program_id(0).to(tl.int64)
    y_ptr += pid * y_stride
    gt_ptr += pid * gt_stride
    loss_ptr += pid * loss_stride
    base_offsets = tl.arange(0, BLOCK_SIZE)
    loss_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + base_offsets
        mask = offsets < n_cols
        y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
        y_true = tl.load(gt_ptr + offsets, mask=mask, other=0.0)
        if not log_target:
            loss = y_true * (tl.log(tl.maximum(y_true, eps)) - y)
        else:
            loss = tl.exp(y_true) * (y_true - y)
        if reduction == 0:
            tl.store(loss_ptr + offsets, loss, mask=mask)
        else:
            loss_sum += tl.sum(tl.where(mask, loss, 0.0), axis=0)
    if reduction != 0:
        tl.store(loss_ptr, loss_sum)


@triton.jit
def kldiv_backward(
    target_ptr, target_stride, new_grads_ptr, new_grads_stride, n_cols, BLOCK_SIZE: tl.constexpr, log_target: tl.constexpr = False
):
    pid = tl.program_id(0).to(tl.int64)
    target_ptr += pid * target_stride
    new_grads_ptr += pid * new_grads_stride
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        target = tl.load(target_ptr + offsets, mask=mask, other=0.0)
        if not log_target:
            res = target * -1
        else:
            res = -tl.exp(target)
        tl.store(new_grads_ptr + offsets, res, mask=mask)


class KLDiv(torch.autograd.Function):
    """torch.nn.KLDivLoss(reduction="batchmean", log_target=...)."""

    @staticmethod
    def forward(ctx, y_pred, y_true, log_target=False, eps=1e-10):
        ctx.save_for_backward(y_true)
        ctx.log_target = log_target
        BT, V = y_pred.shape
        loss = torch.zeros(BT, dtype=torch.float32, device=y_pred.device)
        kldiv_forward[(BT,)](
            y_pred,
            y_pred.stride(0),
            y_true,
            y_true.stride(0),
            loss,
            1,
            V,
            eps=eps,
            BLOCK_SIZE=128,
            log_target=log_target,
            num_warps=8,
        )
        return loss.sum() / BT

    @staticmethod
    def backward(ctx, grad_output):
        (y_true,) = ctx.saved_tensors
        BT, V = y_true.shape
        grads = torch.empty_like(y_true)
        kldiv_backward[(BT,)](y_true, y_true.stride(0), grads, grads.stride(0), V, BLOCK_SIZE=128, log_target=ctx.log_target)
        return grads * (grad_output / BT), None, None, None


@triton.jit
def jsd_kernel(
    X_ptr,
    X_stride,
    Y_ptr,
    Y_stride,
    loss_ptr,
    loss_stride,
    dX_ptr,
    dX_stride,
    label_ptr,
    beta: tl.constexpr,
    n_non_ignore: int,
    ignore_index: tl.constexpr,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
    HAS_LABEL: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    X_ptr += pid * X_stride
    dX_ptr += pid * dX_stride
    Y_ptr += pid * Y_stride
    loss_ptr += pid * loss_stride
    label_ptr += pid
    if HAS_LABEL:
        label = tl.load(label_ptr)
        if label == ignore_index:
            for i in range(0, n_cols, BLOCK_SIZE):
                offsets = i + tl.arange(0, BLOCK_SIZE)
                tl.store(dX_ptr + offsets, 0.0, mask=offsets < n_cols)
            return
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        X = tl.load(X_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        Y = tl.load(Y_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        if beta == 0.0:  # forward KL
            Y_prob = tl.exp(Y)
            loss = Y_prob * (Y - X)
            dX = -Y_prob
        elif beta == 1.0:  # reverse KL
            X_prob = tl.exp(X)
            loss = X_prob * (X - Y)
            dX = loss + X_prob
        else:
            max_val = tl.maximum(tl.max(X, axis=0), tl.max(Y, axis=0))
            Q = tl.exp(X - max_val) * tl.exp(max_val)
            P = tl.exp(Y - max_val) * tl.exp(max_val)
            M = beta * P + (1 - beta) * Q
            log_M = tl.log(M)
            loss = beta * P * Y + (1 - beta) * Q * X - M * log_M
            dX = (1 - beta) * Q * (X - log_M)
        scale = 1.0 / n_non_ignore
        tl.store(loss_ptr + offsets, loss * scale, mask=mask)
        tl.store(dX_ptr + offsets, dX * scale, mask=mask)


class JSD(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, labels=None, beta=0.5, ignore_index=-100):
        BT, V = x.shape
        loss, dx = torch.zeros(x.shape, dtype=torch.float32, device=x.device), torch.empty_like(x)
        count = (labels != ignore_index).sum().item() if labels is not None else BT
        jsd_kernel[(BT,)](
            X_ptr=x,
            X_stride=x.stride(-2),
            Y_ptr=y,
            Y_stride=y.stride(-2),
            loss_ptr=loss,
            loss_stride=loss.stride(-2),
            dX_ptr=dx,
            dX_stride=dx.stride(-2),
            label_ptr=labels if labels is not None else torch.empty(1, device=x.device),
            beta=beta,
            n_non_ignore=count,
            ignore_index=ignore_index,
            n_cols=V,
            BLOCK_SIZE=128,
            HAS_LABEL=labels is not None,
        )
        ctx.save_for_backward(dx)
        return loss.sum()

    @staticmethod
    def backward(ctx, grad_output):
        (dx,) = ctx.saved_tensors
        return scaled(dx, grad_output), None, None, None, None
