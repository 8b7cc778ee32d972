"""Results whose rows begin between multiples of 16 bytes, which the copy engine takes for an illegal instruction: beside a number
of their own (splits of a decode step: rows of D + 1), at an offset that is known, passed or loaded, each program's apart."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
WAYS = [(how, dtype) for how in ("stored", "loaded") for dtype in (torch.float32, torch.float16)] + [("added", torch.float32)]
PLACES = [(65, 0, 0, 0), (68, 1, 0, 0), (72, 0, 3, 0), (72, 0, 8, 0), (66, 0, 0, 4), (72, 8, 8, 8), (64, 0, 0, 0)]
N, K = 64, 64  # columns of a part, and what is summed


@tileon.jit
def parts_of(A, B, C, AT, first, stride, M, PART: tl.constexpr, FIRST: tl.constexpr, HOW: tl.constexpr, BM: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, 64), tl.arange(0, 64)
    part = tl.program_id(1)
    total = tl.zeros((BM, 64), tl.float32)
    for step in range(0, 128, 64):
        a = tl.load(A + m[:, None] * 128 + (step + k)[None, :], mask=m[:, None] < M, other=0.0)
        total += tl.dot(a, tl.load(B + part * 128 * 64 + (step + k)[:, None] * 64 + n[None, :]))
    at = part * PART + FIRST + first
    if HOW == "loaded":
        at += tl.load(AT + part)
    c = C + m[:, None] * stride + at + n[None, :]
    if HOW == "added":
        tl.atomic_add(c, total, mask=m[:, None] < M)
    else:
        tl.store(c, total.to(C.dtype.element_ty), mask=m[:, None] < M)


@pytest.mark.pairs
@on_both
@pytest.mark.parametrize("how, dtype", WAYS, ids=str)
@pytest.mark.parametrize("part, fixed, first, more", PLACES)
def test_is_stored_where_it_belongs(part, fixed, first, more, how, dtype, device):
    rows, parts, width = 1240, 8, 8 * 72 + 64
    a, b = torch.randint(-5, 6, (rows, 128)).to(torch.float16), torch.randint(-5, 6, (parts, 128, N)).to(torch.float16)
    at = torch.arange(parts, dtype=torch.int32) * more
    # (More programs than multiprocessors: clusters store from registers.)
    shift = torch.arange(parts) * part + fixed + first + (at if how == "loaded" else 0)
    exact = torch.zeros(rows, width, dtype=torch.float64)
    filled = torch.zeros(width, dtype=torch.bool)
    for number, begin in enumerate(shift.tolist()):
        exact[:, begin : begin + N] = a.double() @ b[number].double()
        filled[begin : begin + N] = True
    c = torch.full((rows, width), 0.0 if how == "added" else -77.0, dtype=dtype).to(device)
    parts_of[(-(-rows // 64), parts)](a.to(device), b.to(device), c, at.to(device), first, width, rows, part, fixed, how, BM=64)
    found = c.cpu().double()
    assert torch.equal(found[:, filled], exact[:, filled])  # far below 2,048: no type rounds them
    assert (found[:, ~filled] == (0.0 if how == "added" else -77.0)).all()
