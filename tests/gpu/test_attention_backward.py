"""Attention backward on Hopper: its loops of three and four products go through block IR, and its gradients are right."""

from pathlib import Path

import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import _native, compat

EXAMPLE = compat.load(EXAMPLES / "tileon" / "attention_backward.py")
ONCE = compat.load(EXAMPLES / "tileon" / "attention_backward_once.py")
FORWARD = compat.load(EXAMPLES / "tileon" / "attention.py")
PROGRAMS = compat.load(Path(__file__).parent / "attention_backward_programs.py")
HALVES = (torch.float16, torch.bfloat16)


def modules(dtype, d, causal, step, block=128, n=256):
    """Of the kernel for dK and dV, and of that for dQ."""
    q, k, v, dout, dq, dk, dv = (torch.randn(1, 2, n, d).to(dtype) for _ in range(7))
    logs, dots = torch.randn(1, 2, n), torch.randn(1, 2, n)
    inputs, strides, grid = (q, k, v, dout, logs, dots), (2, *q.stride()[:3], n), (n // block, 2)
    sizes = {"CAUSAL": causal, "D": d, "num_warps": 8}
    keys = EXAMPLE.keys_kernel[grid](*inputs, dk, dv, d**-0.5, *strides, BLOCK_M=step, BLOCK_N=block, **sizes)
    queries = EXAMPLE.queries_kernel[grid](*inputs, dq, d**-0.5, *strides, BLOCK_M=block, BLOCK_N=step, **sizes)
    return keys.module, queries.module


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("step", [32, 64])
@pytest.mark.parametrize("d", [64, 128])
def test_both_kernels_take_the_path(d, step, causal, assemble):
    for module in modules(torch.bfloat16, d, causal, step):
        compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
        assert ": blocks consumers=2" in compiled.plan, compiled.plan
        log = assemble(compiled.asm, "sm_90a")
        if (d, step, causal) != (128, 64, True):  # dK and dV leave no register for the mask of their diagonal
            assert "0 bytes spill stores, 0 bytes spill loads" in log


def once(dtype, d, causal, step, block=128, n=256):
    """Of the kernel that adds dQ up in memory."""
    q, k, v, dout, dk, dv = (torch.randn(1, 2, n, d).to(dtype) for _ in range(6))
    logs, dots, sums = torch.randn(1, 2, n), torch.randn(1, 2, n), torch.zeros(1, 2, n, d)
    launch = ONCE.keys_kernel[(n // block, 2)]
    return launch(
        q, k, v, dout, logs, dots, sums, dk, dv, d**-0.5, 2, *q.stride()[:3], n,
        CAUSAL=causal, BLOCK_M=step, BLOCK_N=block, D=d, num_warps=8,
    ).module  # fmt: skip


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d", [64, 128])
def test_sums_of_all_programs_take_the_path(d, causal, assemble):
    compiled = _native.compile(once(torch.bfloat16, d, causal, 64), disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=2" in compiled.plan, compiled.plan
    assert "cp.reduce.async.bulk.tensor" in compiled.asm
    assert "C75" not in assemble(compiled.asm, "sm_90a")


def test_sums_of_what_it_loads_do_not(assemble):
    """What a step adds to memory, the next one may load: by a box, it might not be there yet."""
    tensors = [torch.randn(1, 1, 128, 64) for _ in range(2)]
    module = PROGRAMS.adds_to_what_it_loads[(1,)](*[x.half() for x in tensors], torch.zeros(64, 64), BLOCK=64).module
    plan = _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan
    assert ": no blocks, for it loads or stores what it adds to" in plan, plan


def one_kernel(q, k, v, dout, logs, dots, dq, dk, dv, step=32, block=128):
    n, d = q.shape[2:]
    launch = PROGRAMS.one_kernel[(n // block, q.shape[1])]
    return launch(
        q, k, v, dout, logs, dots, dq, dk, dv, d**-0.5, q.stride(1), q.stride(2), n,
        BLOCK=block, STEP=step, D=d, num_warps=4,
    ).module  # fmt: skip


@pytest.mark.parametrize("d", [64, 128])
def test_one_kernel_takes_the_path(d, assemble):
    tensors = [torch.randn(1, 2, 256, d).half() for _ in range(7)]
    module = one_kernel(*tensors[:4], torch.randn(1, 2, 256), torch.randn(1, 2, 256), *tensors[4:])
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=2" in compiled.plan, compiled.plan
    assert "C75" not in assemble(compiled.asm, "sm_90a")
    # It loads after it has stored: of arguments that may overlap, that may be what it has stored.
    plan = _native.compile(module, disjoint=False, texts=True, target="sm_90a").plan
    assert ": no blocks, for it loads after it has stored" in plan


@pytest.mark.gpu
@pytest.mark.parametrize("d", [64, 128])
def test_one_kernel(d):
    q, k, v, dout, out = (torch.randn(1, 3, 512, d, device="cuda").half() for _ in range(5))
    logs = FORWARD.attention(q, k, v, out)
    split, whole = ([torch.full_like(q, float("nan")) for _ in range(3)] for _ in range(2))
    EXAMPLE.attention_backward(q, k, v, out, dout, logs, *split)
    one_kernel(q, k, v, dout, logs, (out.float() * dout.float()).sum(-1), *whole)
    for ours, other in zip(whole, split, strict=True):
        assert (ours.double() - other.double()).abs().amax() <= 2.0**-9 * other.double().abs().amax()


@pytest.mark.gpu
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("step", [32, 64])
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("example", [EXAMPLE, ONCE], ids=["two", "once"])
def test_gradients(example, dtype, d, step, causal):
    q, k, v, dout = (torch.randn(2, 3, 512, d, device="cuda").to(dtype) for _ in range(4))
    out = torch.full_like(q, float("nan"))
    logs = FORWARD.attention(q, k, v, out, causal)
    gradients = [torch.full_like(q, float("nan")) for _ in range(3)]
    example.attention_backward(q, k, v, out, dout, logs, *gradients, causal, 128, step)
    x, y, z = (tensor.double().requires_grad_() for tensor in (q, k, v))
    scores = x @ y.mT * d**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    (scores.softmax(-1) @ z).backward(dout.double())
    bits = 2.0**-10 if dtype == torch.float16 else 2.0**-7
    for ours, exact in zip(gradients, (x.grad, y.grad, z.grad), strict=True):
        # Each term of a sum has a factor that is rounded (half a bit); O, dO . O and the result are, too.
        assert (ours.double() - exact).abs().amax() <= 2 * bits * exact.abs().amax()
