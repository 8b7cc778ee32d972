"""AdamW in one kernel, and operations on lists of tensors by a table of their addresses."""

import torch

from tilery import tileon as triton
from tilery.tileon import language as tl


@triton.jit
def adamw_kernel(
    param_ptr,
    grad_ptr,
    exp_avg_ptr,
    exp_avg_sq_ptr,
    lr: tl.float64,
    beta1,
    beta2,
    eps,
    weight_decay,
    step,
    n,
    BLOCK: tl.constexpr,
    MAXIMIZE: tl.constexpr = False,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    param = tl.load(param_ptr + offsets, mask=mask).to(tl.float32)
    grad = tl.load(grad_ptr + offsets, mask=mask).to(tl.float32)
    if MAXIMIZE:
        grad = -grad
    exp_avg = tl.load(exp_avg_ptr + offsets, mask=mask)
    exp_avg_sq = tl.load(exp_avg_sq_ptr + offsets, mask=mask)
    rate = lr.to(tl.float32)
    param *= 1 - rate * weight_decay
    exp_avg += (1 - beta1) * (grad - exp_avg)
    exp_avg_sq = exp_avg_sq * beta2 + grad * grad * (1 - beta2)
    correction1 = 1 - tl.exp(step * tl.log(beta1))
    correction2 = 1 - tl.exp(step * tl.log(beta2))
    denominator = tl.sqrt(exp_avg_sq) / tl.sqrt(correction2) + eps
    param -= rate / correction1 * exp_avg / denominator
    tl.store(param_ptr + offsets, param.to(param_ptr.dtype.element_ty), mask=mask)
    tl.store(exp_avg_ptr + offsets, exp_avg, mask=mask)
    tl.store(exp_avg_sq_ptr + offsets, exp_avg_sq, mask=mask)


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(
                        step=0,
                        exp_avg=torch.zeros_like(p, dtype=torch.float32),
                        exp_avg_sq=torch.zeros_like(p, dtype=torch.float32),
                    )
                state["step"] += 1
                n = p.numel()
                adamw_kernel[(triton.cdiv(n, 256),)](
                    p,
                    p.grad,
                    state["exp_avg"],
                    state["exp_avg_sq"],
                    group["lr"],
                    *group["betas"],
                    group["eps"],
                    group["weight_decay"],
                    state["step"],
                    n,
                    BLOCK=256,
                )


@triton.jit
def foreach_lerp_kernel(self_ptrs, end_ptrs, sizes_ptr, first_ptr, weight, count, BLOCK: tl.constexpr, dtype: tl.constexpr):
    """Programs find the tensor that their block lies in, then its address."""
    pid = tl.program_id(0)
    index = 0
    while (index + 1 < count) & (tl.load(first_ptr + index + 1) <= pid):
        index += 1
    size = tl.load(sizes_ptr + index)
    a = tl.load(self_ptrs + index).to(tl.pointer_type(dtype))
    b = tl.load(end_ptrs + index).to(tl.pointer_type(dtype))
    offsets = (pid - tl.load(first_ptr + index)) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    x = tl.load(a + offsets, mask=mask)
    tl.store(a + offsets, x + weight * (tl.load(b + offsets, mask=mask) - x), mask=mask)


def foreach_lerp_(tensors, ends, weight, block=128):
    device = tensors[0].device
    blocks = [triton.cdiv(t.numel(), block) for t in tensors]
    first = [sum(blocks[:i]) for i in range(len(blocks))]
    table = lambda values: torch.tensor(values, dtype=torch.int64, device=device)  # noqa: E731
    foreach_lerp_kernel[(sum(blocks),)](
        table([t.data_ptr() for t in tensors]),
        table([t.data_ptr() for t in ends]),
        table([t.numel() for t in tensors]),
        table(first),
        weight,
        len(tensors),
        BLOCK=block,
        dtype=tl.float32,
    )


@triton.jit
def norms_of_tuple(xs, sizes, out_ptr, BLOCK: tl.constexpr):
    """The squared norm of every tensor of a tuple, each by one program."""
    pid = tl.program_id(0)
    for i in tl.static_range(len(xs)):
        if pid == i:
            acc = tl.zeros((BLOCK,), tl.float32)
            for start in range(0, sizes[i], BLOCK):
                at = start + tl.arange(0, BLOCK)
                x = tl.load(xs[i] + at, mask=at < sizes[i], other=0.0).to(tl.float32)
                acc += x * x
            tl.store(out_ptr + i, tl.sum(acc))


def clip_grad_norm_(grads, limit):
    squares = torch.zeros(len(grads), device=grads[0].device)
    norms_of_tuple[(len(grads),)](tuple(grads), tuple(g.numel() for g in grads), squares, BLOCK=128)
    total = squares.sum().sqrt()
    factor = torch.clamp(limit / (total + 1e-6), max=1.0)
    for g in grads:
        g.mul_(factor.to(g.dtype))
    return total
