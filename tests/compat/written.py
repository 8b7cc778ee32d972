"""Kernels of a program and functions around them, which inductor.py compiles."""

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def tuned_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def windows_kernel(x, y, out, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    at = [tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N]
    out.store(at, x.load(at) + 2 * y.load(at))


def windows(x, y):
    """With descriptors that the function makes."""
    x, y = x.view(15, 20), y.view(15, 20)
    out = torch.empty_like(x)
    blocks = [TensorDescriptor.from_tensor(t, [8, 16]) for t in (x, y, out)]
    windows_kernel[triton.cdiv(15, 8), triton.cdiv(20, 16)](*blocks, 8, 16)
    return out.cos()


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
