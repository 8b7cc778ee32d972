"""Memory that tiles of products update, lane by lane: in loops and behind them, at any places, transposed, by rows. Small
integers are exact."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

pytestmark = pytest.mark.gpu
SIZE, DEPTH, STEPS = 128, 64, 3


@tileon.jit
def backward(
    q,
    k,
    sums,
    rows,
    ends,
    stored,
    STEPS: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    D: tl.constexpr,
    KIND: tl.constexpr,
    SEM: tl.constexpr,
):
    """Of each tile of queries its scores with one tile of keys, what of them goes into memory, and what the keys get."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    p = tl.program_id(0)
    keys = tl.load(k + (p * M + m[:, None]) * D + d[None, :])
    total = tl.zeros((M, D), tl.float32)
    for step in range(STEPS):
        queries = tl.load(q + (step * N + n[:, None]) * D + d[None, :])
        scores = tl.dot(keys, tl.trans(queries))
        part = scores.to(tl.float16)
        total += tl.dot(part, queries)
        back = tl.dot(tl.trans(part), keys)
        at = step * N + n[:, None]
        if KIND == "scattered":
            place = (at // 8) * 8 * D + (d[None, :] // 2) * 16 + (at % 8) * 2 + d[None, :] % 2
            tl.atomic_add(sums + place, back, mask=(at < STEPS * N - 5) & (d[None, :] < D - 3), sem=SEM)
        else:
            tl.atomic_add(sums + at * D + d[None, :], back, mask=at < STEPS * N - 5, sem=SEM)
        if KIND == "rows":
            tl.atomic_max(rows + p * M + m, tl.max(scores, 1), sem=SEM)
    if KIND == "behind":
        tl.atomic_add(ends + m[:, None] * D + d[None, :], total, sem=SEM)
    else:
        tl.store(stored + (p * M + m[:, None]) * D + d[None, :], total)


@pytest.mark.parametrize("sem", ["relaxed", "acq_rel", "release"])
@pytest.mark.parametrize("kind", ["straight", "scattered", "rows", "behind"])
@pytest.mark.parametrize("m, n, d", [(64, 64, 64), (128, 32, 64), (128, 16, 128), (128, 64, 64), (64, 32, 128), (128, 32, 128)])
def test_updates(device, kind, m, n, d, sem):
    g = torch.Generator().manual_seed(7)
    q = torch.randint(-1, 2, (STEPS * n, d), generator=g, device="cpu").half()
    k = torch.randint(-1, 2, (2 * m, d), generator=g, device="cpu").half()
    sums, rows = torch.zeros(STEPS * n * d), torch.full((2 * m,), -1e9)
    ends, stored = torch.zeros(m, d), torch.full((2 * m, d), float("nan"))
    backward[(2,)](q.to(device), k.to(device), sums, rows, ends, stored, STEPS, m, n, d, kind, sem)
    a, b = q.double(), k.double()
    scores = b @ a.T
    assert scores.abs().max() < 2048
    expected = scores.T @ b
    at, column = torch.arange(STEPS * n, device="cpu")[:, None], torch.arange(d, device="cpu")[None, :]
    mask = (at < STEPS * n - 5) & ((column < d - 3) | (kind != "scattered"))
    expected = torch.where(mask, expected, 0.0)
    if kind == "scattered":
        place = (at // 8) * 8 * d + (column // 2) * 16 + (at % 8) * 2 + column % 2
        expected = torch.zeros(STEPS * n * d, dtype=torch.double, device="cpu").scatter_(0, place.flatten(), expected.flatten())
    torch.testing.assert_close(sums.cpu().double(), expected.flatten(), rtol=0, atol=0)
    if kind == "rows":
        assert torch.equal(rows.cpu().double(), scores.max(1).values)
    totals = scores @ a
    if kind == "behind":
        assert torch.equal(ends.cpu().double(), totals[:m] + totals[m:])
    else:
        assert torch.equal(stored.cpu().double(), totals)


@tileon.jit
def updated(a, b, c, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 64)
    sums = tl.zeros((M, N), tl.float32)
    for step in range(K // 64):
        x = tl.load(a + m[:, None] * K + (step * 64 + k)[None, :])
        y = tl.load(b + (step * 64 + k)[:, None] * N + n[None, :])
        sums += tl.dot(x, y)
    place = c + m[:, None] * N + n[None, :]
    if KIND == "add":
        tl.atomic_add(place, sums, sem="relaxed")
    elif KIND == "exchange":
        tl.atomic_xchg(place, sums, sem="relaxed")
    elif KIND == "max":
        tl.atomic_max(place, sums, sem="relaxed")
    else:
        tl.atomic_min(place, sums, sem="relaxed")


@pytest.mark.parametrize("kind", ["add", "exchange", "max", "min"])
def test_updates_are_of_the_kind_that_is_written(device, kind):
    """The copy engine adds; it does nothing else."""
    g = torch.Generator().manual_seed(3)
    a, b = (torch.randint(-2, 3, (128, 128), generator=g, device="cpu").half() for _ in range(2))
    c = torch.randint(-50, 50, (128, 128), generator=g, device="cpu").float()
    product = a.double() @ b.double()
    kinds = {"add": c + product, "exchange": product, "max": torch.maximum(c.double(), product)}
    expected = kinds.get(kind, torch.minimum(c.double(), product)).double()
    c = c.to(device)
    updated[(1,)](a.to(device), b.to(device), c, 128, 128, 128, kind)
    assert torch.equal(c.cpu().double(), expected)


@tileon.jit
def chosen(a, b, c, out, STEPS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Factors of one tensor from either of two places, which a number decides."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    first = tl.load(a + m[:, None] * D + d[None, :])
    total = tl.zeros((M, D), tl.float32)
    for step in range(STEPS):
        if step % 2 == 0:
            tile = tl.load(b + (step * N + n)[:, None] * D + d[None, :], mask=(step * N + n)[:, None] < STEPS * N - 7, other=0.0)
        else:
            tile = tl.load(b + ((STEPS - step) * N + n)[:, None] * D + d[None, :], mask=n[:, None] >= 0, other=0.0)
        scores = tl.dot(first, tl.trans(tile))
        total += tl.dot(scores.to(tl.float16), tile)
    tl.store(out + m[:, None] * D + d[None, :], total)


def test_chosen_factors(device):
    g = torch.Generator().manual_seed(5)
    steps, m, n, d = 5, 64, 64, 64
    a = torch.randint(-1, 2, (m, d), generator=g, device="cpu").half()
    b = torch.randint(-1, 2, (steps * n, d), generator=g, device="cpu").half()
    out = torch.full((m, d), float("nan"))
    chosen[(1,)](a.to(device), b.to(device), a.to(device), out, steps, m, n, d)
    total = torch.zeros(m, d, dtype=torch.double, device="cpu")
    for step in range(steps):
        tile = b[step * n : (step + 1) * n].double() if step % 2 == 0 else b[(steps - step) * n : (steps - step + 1) * n].double()
        if step == steps - 1:
            tile = tile.clone()
            tile[-7:] = 0
        total += (a.double() @ tile.T) @ tile
    assert torch.equal(out.cpu().double(), total)
