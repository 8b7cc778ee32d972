"""Tiles that loops count on (`offs_n += BLOCK_N`) and that are divided, compared, loaded by and used behind the loop."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def paged_sums(x_ptr, pages_ptr, out_ptr, length, low, high, first, PAGE: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr):
    """Rows of pages, whole blocks in a loop, the rest behind it by what the loop has counted."""
    at = tl.arange(0, N) + first
    total = tl.zeros((N,), dtype=tl.float32)
    for _ in range(low, high, STEP):
        page = tl.load(pages_ptr + at // PAGE, mask=at < length, other=0)
        total += tl.load(x_ptr + page * PAGE + at % PAGE, mask=at < length, other=0.0)
        at += N
    page = tl.load(pages_ptr + at // PAGE, mask=at < length, other=0)
    total += 2 * tl.load(x_ptr + page * PAGE + at % PAGE, mask=at < length, other=0.0)
    tl.store(out_ptr + tl.arange(0, N), total)


@tileon.jit
def attended(
    q_ptr, kv_ptr, pages_ptr, length_ptr, out_ptr, scale, ROWS: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, N: tl.constexpr
):
    """Attention over pages of keys as flag_gems' flash_mla has it: whole blocks without masks, then one with."""
    length = tl.load(length_ptr)
    rows, columns, at = tl.arange(0, ROWS)[:, None], tl.arange(0, D)[None, :], tl.arange(0, N)
    q = tl.load(q_ptr + rows * D + columns)
    top = tl.full([ROWS], value=float("-inf"), dtype=tl.float32)
    total = tl.zeros([ROWS], dtype=tl.float32)
    acc = tl.zeros([ROWS, D], dtype=tl.float32)
    for _ in range(0, length // N):
        place = tl.load(pages_ptr + at // PAGE) * PAGE + at % PAGE
        v = tl.load(kv_ptr + place[:, None] * D + columns)
        s = tl.dot(q, tl.trans(v)) * scale
        new = tl.maximum(tl.max(s, 1), top)
        p, back = tl.exp(s - new[:, None]), tl.exp(top - new)
        acc = tl.dot(p.to(v.dtype), v, acc=acc * back[:, None])
        total = total * back + tl.sum(p, 1)
        top = new
        at += N
    if length % N:
        here = at < length
        place = tl.load(pages_ptr + at // PAGE, mask=here, other=0) * PAGE + at % PAGE
        v = tl.load(kv_ptr + place[:, None] * D + columns, mask=here[:, None], other=0.0)
        s = tl.where(here[None, :], tl.dot(q, tl.trans(v)) * scale, float("-inf"))
        new = tl.maximum(tl.max(s, 1), top)
        p, back = tl.exp(s - new[:, None]), tl.exp(top - new)
        acc = tl.dot(p.to(v.dtype), v, acc=acc * back[:, None])
        total = total * back + tl.sum(p, 1)
    tl.store(out_ptr + rows * D + columns, acc / total[:, None])


@pytest.mark.parametrize("first", [0, 3, -5])
@pytest.mark.parametrize("low, high, step", [(0, 3, 1), (2, 7, 1), (0, 96, 32), (5, 5, 1), (-3, 2, 1), (4, 1, 1), (0, 5, 2)])
def test_paged_sums(device, low, high, step, first):
    length, page, n = 201, 16, 32
    generator = torch.Generator("cpu").manual_seed(2)
    pages = torch.randperm(20, generator=generator, device="cpu").int()
    x = torch.randn(20 * page, generator=generator, device="cpu")
    table = torch.cat([torch.zeros(1, dtype=torch.int32, device="cpu"), pages])  # places before the first are page 0
    out = torch.zeros(n, device=device)
    memory = torch.cat([torch.zeros(page, device="cpu"), x]).to(device)
    paged_sums[(1,)](memory[page:], table.to(device)[1:], out, length, low, high, first, page, step, n)
    at, wanted = torch.arange(n, device="cpu") + first, torch.zeros(n, device="cpu")

    def loaded():
        quotient = torch.div(at, page, rounding_mode="trunc")
        place = pages[quotient.clamp(0, 19)].long().where(quotient >= 0, 0) * page + at - quotient * page
        return torch.where(at < length, x[place.clamp(0)].where(place >= 0, 0), 0)

    for _ in range(low, high, step):
        wanted += loaded()
        at = at + n
    wanted += 2 * loaded()
    torch.testing.assert_close(out.cpu(), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("length", [256, 200, 64, 63, 1, 130])
@pytest.mark.parametrize("depth", [64, 128])
def test_attended(device, depth, length):
    rows, page, n = 64, 16, 64
    generator = torch.Generator("cpu").manual_seed(7)
    q = torch.randn(rows, depth, generator=generator, device="cpu").half()
    kv = torch.randn(20 * page, depth, generator=generator, device="cpu").half()
    pages = torch.randperm(20, generator=generator, device="cpu").int()
    out = torch.zeros(rows, depth, device=device, dtype=torch.float32)
    lengths = torch.tensor([length], dtype=torch.int32).to(device)
    attended[(1,)](q.to(device), kv.to(device), pages.to(device), lengths, out, depth**-0.5, rows, depth, page, n)
    keys = kv.view(20, page, depth)[pages.long()].view(-1, depth)[:length].float()
    wanted = torch.softmax(q.float() @ keys.T * depth**-0.5, 1) @ keys
    torch.testing.assert_close(out.cpu(), wanted, rtol=4e-3, atol=4e-3)
