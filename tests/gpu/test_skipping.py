"""Loops that take some of their steps only, on Hopper: they go through block IR, and are right."""

from pathlib import Path

import pytest
import torch
from language.attention import attention_with_bound

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "skipping_programs.py")
HEADS, N, BLOCK_M, BLOCK_N = 2, 384, 128, 64
TAKEN = torch.tensor([[1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=torch.int32)  # in the last none


def check(q, k, v, out, taken, causal):
    rows = slice(0, 2 * BLOCK_M)  # of the last there is no key
    seen = taken.bool().repeat_interleave(BLOCK_M, 0).repeat_interleave(BLOCK_N, 1)
    if causal:
        seen = seen & torch.ones(N, N, dtype=torch.bool, device=seen.device).tril()
    exact, bound = attention_with_bound(q[:, rows], k, v, block=64, scale=q.shape[-1] ** -0.5, mask=seen[rows])
    # The bound is for sums that round; tensor cores may cut off, which is twice that.
    assert ((out[:, rows].double() - exact).abs() <= 2 * bound).all()
    assert (out[:, 2 * BLOCK_M :] == 0).all()


def tensors(device, d):
    q, k, v = (torch.randn(HEADS, N, d, device=device).half() for _ in range(3))
    return q, k, v, torch.full_like(q, float("nan"))


def tileon(device, form, d=64, rows=BLOCK_M):
    q, k, v, out = tensors(device, d)
    taken = TAKEN.clone()
    if form in ("causal", "kinds"):
        taken[1] = torch.tensor([0, 1, 0, 1, 0, 0])
        taken[0, 5] = 0
    mask = taken.clone()
    if form == "kinds":
        mask[0, 0] = mask[1, 3] = 2
        mask[0, 5] = 1  # beyond the diagonal
    elif form == "bits":
        mask = (taken << torch.arange(N // BLOCK_N, dtype=torch.int32)).sum(1, dtype=torch.int32)[:, None].contiguous()
    elif form == "left out":
        mask = 1 - taken
    mask = mask.repeat_interleave(BLOCK_M // rows, 0)
    kernel = PROGRAMS.attention[(N // rows, HEADS)](
        q, k, v, out, mask.to(device), d**-0.5, N, mask.shape[1], form, BLOCK_M=rows, BLOCK_N=BLOCK_N, D=d, num_warps=rows // 16
    )
    check(q, k, v, out, taken.to(device), form in ("causal", "kinds"))
    return kernel.module


def tilelang(device, local, causal, noted=False):
    q, k, v, out = tensors(device, 64)
    taken = TAKEN.clone()
    if causal:
        taken[1, 0] = 1
    kernel = PROGRAMS.tilelang_attention(HEADS, N, 64, BLOCK_M, BLOCK_N, local, causal, noted)
    kernel(q, k, v, taken.to(torch.int8).to(device), out)
    if noted:  # of what each block of rows took the last, which is in its results
        out /= 1 + taken[:, -1].repeat_interleave(BLOCK_M)[:, None].to(out)
    check(q, k, v, out, taken.to(device), causal)
    return kernel._latest().module


def product(device):
    m, n, k = 256, 256, 384
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    mask = torch.tensor([[1, 0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0]], dtype=torch.bool, device=device)
    out = torch.full((m, n), float("nan"), dtype=torch.float16, device=device)
    kernel = PROGRAMS.product(m, n, k, 128, 128, 64)
    kernel(a, b, mask, out)
    kept = a.double() * mask.repeat_interleave(128, 0).repeat_interleave(64, 1)
    exact, size = kept @ b.double(), kept.abs() @ b.double().abs()
    assert ((out.double() - exact).abs() <= 2.0**-11 * exact.abs() + 2.0**-22 * k * size).all()
    return kernel._latest().module


CASES = {form: lambda device, form=form: tileon(device, form) for form in ("counted", "advanced", "kinds", "bits", "left out")}
CASES |= {f"causal of {d}": lambda device, d=d: tileon(device, "causal", d) for d in (64, 128)}
CASES["rows of one warpgroup"] = lambda device: tileon(device, "counted", rows=64)
CASES |= {
    "TileLang": lambda device: tilelang(device, False, False),
    "TileLang, mask copied": lambda device: tilelang(device, True, False),
    "TileLang, mask copied, causal": lambda device: tilelang(device, True, True),
    "TileLang, what was taken is noted": lambda device: tilelang(device, False, False, True),
    "product": product,
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


def test_another_block_multiplies_while_steps_are_looked_for():
    compiled = _native.compile(CASES["rows of one warpgroup"]("cpu"), disjoint=True, texts=True, target="sm_90a")
    assert "resident=2" in compiled.plan, compiled.plan


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
