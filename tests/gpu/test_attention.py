"""Attention on Hopper: which spellings go through block IR, and that they are right."""

import math
from pathlib import Path

import pytest
import torch
from gpu.programs import EXAMPLES
from language.attention import attention_with_bound

from tilery import _native, compat

EXAMPLE = compat.load(EXAMPLES / "tileon" / "attention.py")
PROGRAMS = compat.load(Path(__file__).parent / "attention_programs.py")
PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
TILELANG, NINETOOTHED = (compat.load(PEERS / f"{language}_attention.py").attention for language in ("tilelang", "ninetoothed"))
HALVES = (torch.float16, torch.bfloat16)


def tensors(batches, heads, n, d, dtype, device):
    """Queries, keys, values, and a result that is spoilt."""
    q, k, v = (torch.randn(batches, heads, n, d, device=device).to(dtype) for _ in range(3))
    return q, k, v, torch.full_like(q, float("nan"))


def module_of_forward(dtype, d, causal):
    q, k, v, out = tensors(1, 2, 256, d, dtype, "cpu")
    compiled = EXAMPLE.attention_kernel[(2, 2)](
        q, k, v, out, torch.empty(512), d**-0.5, 2, *q.stride()[:3], 256,
        CAUSAL=causal, BLOCK_M=128, BLOCK_N=128, D=d, num_warps=8,
    )
    return compiled.module


def masked(q, k, v, out, causal, blocks=(128, 64), natural=False):
    heads, n, d = q.shape[1:]
    group = heads // k.shape[1]
    return PROGRAMS.masked[(-(-n // blocks[0]), heads)](
        q, k, v, out, d**-0.5, group, q.stride(1), k.stride(1), q.stride(2), n,
        CAUSAL=causal, BLOCK_M=blocks[0], BLOCK_N=blocks[1], D=d, NATURAL=natural, num_warps=8,
    ).module  # fmt: skip


def other_spelling(name, q, k, v, out):
    """A launch of one head's rows after the other's; its module."""
    heads, n, d = q.shape[1:]
    if name.startswith("tilelang"):
        kernel = TILELANG(heads, n, d, 128, 128, name.endswith("causal"))
        kernel(q[0], k[0], v[0], out[0])
        return kernel._latest().module
    if name == "ninetoothed":
        NINETOOTHED(q, k, v, d**-0.5, out, M=128, N=128)
        return list(NINETOOTHED.compiled.values())[-1].module
    rest = (q.stride(1), q.stride(2), n) if name == "block_pointers" else (heads, n)
    blocks = {"BLOCK_M": 128, "BLOCK_N": 64, "D": d, "num_warps": 8}
    return getattr(PROGRAMS, name)[(n // 128, heads)](q, k, v, out, d**-0.5, *rest, **blocks).module


SPELLINGS = ("block_pointers", "descriptors", "tilelang", "tilelang_causal", "ninetoothed")


def takes_the_path(module, assemble):
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")
    return compiled


def check(q, k, v, out, block, causal):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    exact, bound = attention_with_bound(q, k, v, block=block, scale=q.shape[-1] ** -0.5, causal=causal)
    # The bound is for sums that round; tensor cores may cut off, which is twice that.
    assert ((out.double() - exact).abs() <= 2 * bound).all()


@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_forward_takes_the_path(dtype, d, assemble):
    compiled = takes_the_path(module_of_forward(dtype, d, False), assemble)
    assert compiled.plan.count(": box of ") == 4, compiled.plan


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d", [64, 128])
def test_masks_take_the_path(d, causal, assemble):
    takes_the_path(masked(*tensors(1, 2, 100, d, torch.bfloat16, "cpu"), causal), assemble)


def test_natural_exponentials_are_powers_of_two(assemble):
    """By one instruction and a product: what keeps all of an exponential's bits saturates."""
    module = masked(*tensors(1, 2, 100, 64, torch.bfloat16, "cpu"), True, natural=True)
    asm = takes_the_path(module, assemble).asm
    assert "ex2.approx" in asm and ".sat" not in asm


@pytest.mark.parametrize("name", SPELLINGS)
def test_other_spellings_take_the_path(name, assemble):
    takes_the_path(other_spelling(name, *tensors(1, 2, 256, 64, torch.float16, "cpu")), assemble)


@pytest.mark.gpu
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("name", SPELLINGS)
def test_other_spellings(name, d):
    q, k, v, out = tensors(1, 3, 512, d, torch.float16, "cuda")
    other_spelling(name, q, k, v, out)
    check(q, k, v, out, 64 if name in ("block_pointers", "descriptors") else 128, name.endswith("causal"))


@pytest.mark.gpu
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_forward(dtype, d, causal):
    q, k, v, out = tensors(2, 3, 512, d, dtype, "cuda")
    logs = EXAMPLE.attention(q, k, v, out, causal)
    check(q, k, v, out, 128, causal)
    scores = (q.double() @ k.double().mT) * d**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    # A score is a sum of d products, each of which tensor cores may cut off at 2^-23; a logarithm of sums moves by at most as
    # much as its scores. exp2, the sum over a row and log2 are f32: some 2^-22 of values of at most 64, n roundings of 2^-24.
    products = (q.double().abs() @ k.double().abs().mT).amax(-1) * d**-0.5 * math.log2(math.e)
    bound = d * 2.0**-23 * products + 64 * 2.0**-21 + scores.shape[-1] * 2.0**-24
    assert ((logs.double() - scores.logsumexp(-1) * math.log2(math.e)).abs() <= bound).all()


@pytest.mark.gpu
@pytest.mark.parametrize("d", [64, 128])
def test_natural_exponentials(d):
    q, k, v, out = tensors(1, 2, 300, d, torch.float16, "cuda")
    masked(q, k, v, out, True, natural=True)
    check(q, k, v, out, 64, True)


@pytest.mark.gpu
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n, d, blocks", [(300, 64, (128, 64)), (511, 128, (64, 128)), (1, 128, (128, 128))])
def test_masks(n, d, blocks, causal):
    q, k, v, out = tensors(1, 4, n, d, torch.bfloat16, "cuda")
    k, v = k[:, ::2].contiguous(), v[:, ::2].contiguous()
    masked(q, k, v, out, causal, blocks)
    check(q, k, v, out, blocks[1], causal)
