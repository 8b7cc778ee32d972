"""Kernels of a program and functions around them, which inductor.py compiles."""

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def tuned_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * tl.load(y + i, mask=i < n), mask=i < n)


def plain(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out * 2


def tuned(x, y):
    out = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel())
    return out.sin()


@triton_op("written::add", mutates_args=())
def added(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(add_kernel)[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out


def operator(x, y):
    return added(x, y).cos()


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        out = torch.empty_like(x)
        tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x, out, x.numel())
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        twice = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 64),)](x, x, twice, x.numel(), BLOCK=64)
        return grad * twice


def mutated(x, y):
    """What torch finds that add_kernel writes."""
    from torch._higher_order_ops import triton_kernel_wrap

    arguments = {"x": x, "y": y, "out": torch.empty_like(x), "n": x.numel(), "BLOCK": 64}
    if hasattr(triton_kernel_wrap, "identify_mutated_tensors"):  # until torch 2.12
        return triton_kernel_wrap.identify_mutated_tensors(add_kernel, arguments, {})
    return [write.name for write in triton_kernel_wrap.identify_accessed_tensors(add_kernel, arguments, {}).read_writes.writes]
