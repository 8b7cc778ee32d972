"""Programs of fewer rows than the tensor cores take, several of which run as one: what tells them apart stays as it was."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

pytestmark = pytest.mark.gpu
LENGTH, STEP = 72, 16  # keys
TOLD = ["lane", "number", "until", "rows", "sum"]  # by which programs differ otherwise


@tileon.jit
def kernel(
    q, k, v, bias, mask, table, out, stats, rows, length, sq, sb,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, WHAT: tl.constexpr,
):
    """Attention with one bias an element, by a place or by a bucket of the distance, and a mask of keys."""
    p, head = tl.program_id(0), tl.program_id(1)
    lanes = tl.arange(0, M)
    m, d = p * M + lanes, tl.arange(0, D)
    x = tl.load(q + head * rows * sq + m[:, None] * sq + d[None, :], (m < rows)[:, None], other=0.0)
    top = tl.full((M,), -1e30, tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    places = bias + m[:, None] * sb + tl.arange(0, N)[None, :]
    end = length
    if WHAT == "until":
        end = tl.minimum(length, (p + 1) * M)
    for start in range(0, end, N):
        n = start + tl.arange(0, N)
        y = tl.load(k + n[None, :] * D + d[:, None], (n < length)[None, :], other=0.0)
        s = tl.dot(x, y)
        if WHAT == "buckets":
            far = tl.abs(n[None, :] - m[:, None]).to(tl.float32)
            s += tl.load(table + tl.minimum(tl.log(far + 1.0) * 3.0, 7.0).to(tl.int32) * 2 + head)
        elif WHAT == "moving":
            s += tl.load(places, (m < rows)[:, None] & (n < length)[None, :], other=0.0).to(tl.float32)
            places += N
        else:
            place = bias + m[:, None] * sb + n[None, :]
            s += tl.load(place, (m < rows)[:, None] & (n < length)[None, :], other=0.0).to(tl.float32)
        if WHAT == "lane":
            s += (lanes[:, None] % 3).to(tl.float32)
        if WHAT == "number":
            s += tl.where(n[None, :] % 2 == 0, p, -p).to(tl.float32)
        s = tl.where((tl.load(mask + n, n < length, other=1) == 0)[None, :], s, -1e30)
        now = tl.maximum(top, tl.max(s, 1))
        e = tl.exp(s - now[:, None])
        scale = tl.exp(top - now)
        total = total * scale + tl.sum(e, 1)
        w = tl.load(v + n[:, None] * D + d[None, :], (n < length)[:, None], other=0.0)
        acc = tl.dot(e.to(w.dtype), w, acc * scale[:, None])
        top = now
    there = m < rows
    if WHAT == "rows":
        there = there & (lanes < M - p)
    result = (acc / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + head * rows * sq + m[:, None] * sq + d[None, :], result, there[:, None])
    if WHAT == "sum":
        tl.store(stats + head * rows + p, tl.sum(tl.where(there, top, 0.0)))
    else:
        tl.store(stats + head * rows + m, top, there)


def expected(what, q, k, v, bias, mask, table, m, head):
    at = torch.arange(q.shape[0], dtype=torch.float64, device="cpu")[:, None]
    n = torch.arange(LENGTH, device="cpu")
    s = q.double() @ k.double().mT
    if what == "buckets":
        s += table.double()[torch.clamp(torch.log((n - at).abs().float() + 1) * 3, max=7).long() * 2 + head]
    else:
        s += bias.double()
    if what == "lane":
        s += at % m % 3
    if what == "number":
        s += (at // m) * (1 - n % 2 * 2)
    hidden = mask != 0
    if what == "until":
        hidden = hidden | (n // STEP >= torch.ceil((at // m + 1) * m / STEP))
    s = s.masked_fill(hidden, -1e30)
    return torch.softmax(s, 1) @ v.double(), s.max(1).values


@pytest.mark.parametrize("what", ["place", "moving", "buckets", *TOLD])
@pytest.mark.parametrize("m, rows, programs", [(16, 96, 5), (32, 100, 4), (32, 1, 1), (8, 70, 9), (32, 96, 3)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_joined(device, what, m, rows, programs, dtype):
    g = torch.Generator().manual_seed(rows)
    d, heads, sq, sb = 32, 2, 40, LENGTH + 8
    draw = lambda *shape: torch.randn(*shape, generator=g, device="cpu")  # noqa: E731
    q, bias = torch.full((heads, rows, sq), float("nan"), device="cpu"), torch.full((rows, sb), float("nan"), device="cpu")
    q[..., :d], bias[:, :LENGTH] = draw(heads, rows, d) / 4, draw(rows, LENGTH)
    q, bias, k, v, table = (t.to(dtype) for t in (q, bias, draw(LENGTH, d), draw(LENGTH, d), draw(16)))
    mask = (torch.rand(LENGTH, generator=g, device="cpu") > 0.8).to(torch.int8)
    mask[0] = 0
    out = torch.full((heads, rows, sq), float("nan"), device=device, dtype=dtype)
    stats = torch.full((heads, rows), float("nan"), device=device)
    on = [t.to(device) for t in (q, k, v, bias, mask, table)]
    kernel[programs, heads](*on, out, stats, rows, LENGTH, sq, sb, m, STEP, d, what)
    out, stats = out.double().cpu(), stats.double().cpu()
    lanes = torch.arange(rows, device="cpu")
    written = lanes < programs * m
    if what == "rows":
        written &= lanes % m < m - lanes // m
    assert out[..., d:].isnan().all() and out[:, ~written].isnan().all()  # nobody's
    for head in range(heads):
        values, tops = expected(what, q[head, :, :d], k, v, bias[:, :LENGTH], mask, table, m, head)
        torch.testing.assert_close(out[head, written, :d], values[written], rtol=2e-2, atol=2e-2)
        if what != "sum":
            torch.testing.assert_close(stats[head, written], tops[written], rtol=1e-3, atol=1e-3)
            assert stats[head, ~written].isnan().all()
        else:
            each = [tops[p * m : (p + 1) * m][written[p * m : (p + 1) * m]].sum() for p in range(programs)]
            torch.testing.assert_close(stats[head, :programs], torch.stack(each), rtol=1e-3, atol=1e-3)
            assert stats[head, programs:].isnan().all()
