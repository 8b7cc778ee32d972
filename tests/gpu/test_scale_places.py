"""Scales of a product's steps whose places are divisions: rows and columns that wrap, groups that share a scale."""

import re

import pytest
import torch

from tilery import _native
from tilery.tileon import jit
from tilery.tileon import language as tl


@jit
def wrapped(A, B, C, SA, SB, M, N, K, group_n, group_k, stride_a, stride_b, stride_c, rows_sa, steps_sa, rows_sb, steps_sb,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, MASKED: tl.constexpr, LATE: tl.constexpr):  # fmt: skip
    m = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    n = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_at, b_at = A + m[:, None] * stride_a + k[None, :], B + k[:, None] + n[None, :] * stride_b
    sa_at, sb_at = SA + m * rows_sa, SB + n // group_n * rows_sb
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_at, mask=k[None, :] < K - step * BK, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K - step * BK, other=0.0)
        group = step * BK // group_k
        if LATE:
            product = tl.dot(a, b)
        if MASKED:
            rows = tl.load(sa_at + group * steps_sa, mask=m % 3 != 1, other=2.0)
            columns = tl.load(sb_at + group * steps_sb, mask=n % 5 != 2, other=0.5)
        else:
            rows, columns = tl.load(sa_at + group * steps_sa), tl.load(sb_at + group * steps_sb)
        if LATE:
            total += product * rows[:, None] * columns[None, :]
        else:
            total += tl.dot(a, b) * rows[:, None] * columns[None, :]
        a_at += BK
        b_at += BK
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(C + m[:, None] * stride_c + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def operands(m, n, k, group_n, group_k, masked, dtype, scale, device):
    """Integers and powers of two: all sums are exact."""
    g = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randint(-3, 4, (rows, k), generator=g, device="cpu").float() for rows in (m, n))
    groups = -(-k // group_k)
    sa = 2.0 ** torch.randint(-2, 3, (m, groups), generator=g, device="cpu")
    sb = 2.0 ** torch.randint(-2, 3, (-(-n // group_n), groups), generator=g, device="cpu")
    rows, columns = sa.double(), sb.repeat_interleave(group_n, 0)[:n].double()
    if masked:
        rows, columns = rows.clone(), columns.clone()
        rows[torch.arange(m, device="cpu") % 3 == 1], columns[torch.arange(n, device="cpu") % 5 == 2] = 2.0, 0.5
    wanted = (a.double() * rows.repeat_interleave(group_k, 1)[:, :k]) @ (
        b.double() * columns.repeat_interleave(group_k, 1)[:, :k]
    ).T
    return [x.to(device) for x in (a.to(dtype), b.to(dtype), sa.to(scale), sb.to(scale))], wanted


def launch(m, n, k, group_n, group_k, tile, masked, late, dtype, scale, device):
    (a, b, sa, sb), wanted = operands(m, n, k, group_n, group_k, masked, dtype, scale, device)
    c = torch.full((m, n), float("nan"), device=device)
    sizes, strides = (m, n, k, group_n, group_k), (k, k, n, *sa.stride(), *sb.stride())
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    return wrapped[grid](a, b, c, sa, sb, *sizes, *strides, *tile, masked, late), c, wanted


SHAPES = [
    (128, 256, 512, 128, 128),
    (100, 144, 256, 128, 128),
    (1, 16, 128, 128, 128),
    (70, 160, 400, 32, 256),
    (65, 130, 384, 7, 128),
]


@pytest.mark.gpu
@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2], ids=["bf16", "e4m3", "e5m2"])
@pytest.mark.parametrize("tile", [(64, 128, 128), (128, 128, 64), (64, 32, 128), (128, 256, 64)], ids=str)
def test_places(tile, dtype, masked):
    for shape in SHAPES:
        _, c, wanted = launch(*shape, tile, masked, False, dtype, torch.float32, "cuda")
        assert (c.cpu().double() == wanted).all(), shape


@pytest.mark.gpu
@pytest.mark.parametrize("scale", [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int8], ids=str)
@pytest.mark.parametrize("late", [False, True], ids=["before", "behind"])
def test_types(scale, late):
    for shape in SHAPES[:2] + SHAPES[-1:]:
        if scale in (torch.float32, torch.float16, torch.bfloat16):
            _, c, wanted = launch(*shape, (64, 128, 128), False, late, torch.float8_e4m3fn, scale, "cuda")
            assert (c.cpu().double() == wanted).all(), shape
            continue
        (a, b, sa, sb), _ = operands(*shape, False, torch.float8_e4m3fn, torch.float32, "cpu")
        sa, sb = (sa * 4).to(scale), (sb * 4).to(scale)
        m, n, k, group_n, group_k = shape
        rows, columns = sa.double().repeat_interleave(group_k, 1)[:, :k], sb.double().repeat_interleave(group_n, 0)[:n]
        wanted = (a.double() * rows) @ (b.double() * columns.repeat_interleave(group_k, 1)[:, :k]).T
        c = torch.full((m, n), float("nan"), device="cuda")
        on = [x.cuda() for x in (a, b)], [x.cuda() for x in (sa, sb)]
        grid = (-(-m // 64), -(-n // 128))
        wrapped[grid](*on[0], c, *on[1], *shape, k, k, n, *sa.stride(), *sb.stride(), 64, 128, 128, False, late)
        assert (c.cpu().double() == wanted).all(), shape


@pytest.mark.parametrize("late", [False, True], ids=["before", "behind"])
def test_steps_do_not_divide(late, assemble):
    run, _, _ = launch(256, 256, 512, 128, 128, (64, 128, 128), False, late, torch.float8_e4m3fn, torch.float32, "cpu")
    compiled = _native.compile(run.module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    said = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in said, said
    assert ".f64" not in compiled.asm
    before = compiled.asm[: compiled.asm.index("wgmma.mma_async")]
    first = max(before.rindex(at.group(0)) for at in re.finditer(r"^\$L\w+:\n\t\.pragma", before, re.M))
    step = before[first:]
    assert step.count("ld.global") == 2 + 4, "two rows, and an eighth of the columns"
    assert len(re.findall(r"\b(?:div|rem)\.", step)) <= 1, "a step divides its own number"
