"""Products in parts that memory adds up, with no word of order: neighbours are added by one instruction, between two fences."""

import re

import pytest
import torch

from tilery import _native
from tilery.tileon import jit
from tilery.tileon import language as tl


@jit
def split(
    A, B, C, M, N, K, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr, SEM: tl.constexpr
):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.program_id(2) * BK + tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK * SPLIT)):
        left = K - step * BK * SPLIT
        a = tl.load(A + m[:, None] * K + step * BK * SPLIT + k[None, :], mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        b = tl.load(B + n[None, :] * K + step * BK * SPLIT + k[:, None], mask=(n[None, :] < N) & (k[:, None] < left), other=0.0)
        total += tl.dot(a, b)
    mask = (m[:, None] < M) & (n[None, :] < N)
    at = C + m[:, None] * stride_c + n[None, :]
    if SEM is None:
        tl.atomic_add(at, total.to(C.dtype.element_ty), mask=mask)
    else:
        tl.atomic_add(at, total.to(C.dtype.element_ty), mask=mask, sem=SEM)


def launch(m, n, k, stride, factor, dtype, sem, device):
    """Small integers: all sums are exact, in any order."""
    g = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randint(-1, 2, (rows, k), generator=g, device="cpu").float() for rows in (m, n))
    c = torch.full((m, stride), 2.0, dtype=dtype, device=device)
    grid = (-(-m // 64), -(-n // 64), 4)
    run = split[grid](a.to(device, factor), b.to(device, factor), c, m, n, k, stride, 64, 64, 64, 4, sem)
    wanted = torch.full((m, stride), 2.0, dtype=torch.float64, device="cpu")
    wanted[:, :n] += a.double() @ b.double().T
    return run, c, wanted


@pytest.mark.gpu
@pytest.mark.parametrize("sem", [None, "relaxed", "release"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("factor", [torch.float8_e4m3fn, torch.float16], ids=["fp8", "f16"])
def test_sums(factor, dtype, sem):
    for m, n, k, stride in [(64, 128, 512, 128), (65, 72, 336, 80), (3, 67, 272, 67), (40, 33, 256, 36)]:
        _, c, wanted = launch(m, n, k, stride, factor, dtype, sem, "cuda")
        assert wanted.abs().max() < 128, "bf16 has all such integers"
        assert (c.cpu().double() == wanted).all(), (m, n, k)


KINDS = {torch.float32: "v2.f32", torch.float16: "noftz.f16x2", torch.bfloat16: "noftz.bf16x2"}


@pytest.mark.parametrize("dtype", list(KINDS), ids=str)
def test_neighbours_are_added_together(dtype, goes_through_blocks):
    run, _, _ = launch(64, 128, 512, 128, torch.float8_e4m3fn, dtype, None, "cpu")
    goes_through_blocks(run.module)
    asm = _native.compile(run.module, disjoint=True, texts=True, target="sm_90a").asm
    assert asm.count(f"red.relaxed.gpu.global.add.{KINDS[dtype]}") == 16, "two of a thread's 32 sums each"
    assert len(re.findall(r"fence\.(?:release|acquire|acq_rel)\.gpu", asm)) == 2
