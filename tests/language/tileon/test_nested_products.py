"""Several products in loops in loops, and in branches that numbers decide: blocks that a mask leaves out, programs of several
tiles, one way or the other. Small integers are exact."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

pytestmark = pytest.mark.gpu


def whole(*shape, g):
    return torch.randint(-1, 2, shape, generator=g, device="cpu").double()


@tileon.jit
def sparse(q, k, v, chosen, o, seen, STEPS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr):
    """Blocks of keys that a list names, or a mask leaves in."""
    p, m, n, d = tl.program_id(0), tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    x = tl.load(q + (p * M + m[:, None]) * D + d[None, :])
    top = tl.full((M,), -1000.0, tl.float32)
    total = tl.zeros((M, D), tl.float32)
    count = 0
    for step in range(STEPS):
        block = tl.load(chosen + p * STEPS + step)
        if KIND == "behind":  # its factor is loaded whether anybody multiplies it or not
            early = tl.load(k + (step * N + n)[:, None] * D + d[None, :])
        if block >= 0:
            at = (block * N + n)[:, None] * D + d[None, :]
            y = tl.load(k + at)
            if KIND == "behind":
                y = early
            scores = tl.dot(x, tl.trans(y))
            low = tl.where(m[:, None] + p * M >= n[None, :], scores, 0.0).to(tl.float16)
            now = tl.maximum(top, tl.max(scores, 1))
            total = total + tl.dot(low, tl.load(v + at))
            top = now
            count += 1
            if KIND == "stores":
                tl.store(seen + (p * STEPS + step) * M + m, now)
        elif KIND == "else":
            y = tl.load(v + (step * N + n)[:, None] * D + d[None, :])
            total += tl.dot(tl.dot(x, tl.trans(y)).to(tl.float16), y)
    tl.store(o + (p * M + m[:, None]) * D + d[None, :], total + top[:, None] + count)


@pytest.mark.parametrize("kind", ["plain", "stores", "else", "behind"])
@pytest.mark.parametrize("m, n, d", [(64, 64, 64), (128, 64, 64), (128, 128, 64), (64, 32, 128), (128, 64, 128)])
def test_sparse(device, kind, m, n, d):
    g = torch.Generator().manual_seed(m + n + d)
    steps, programs = 5, 3
    q, k, v = whole(programs * m, d, g=g), whole(steps * n, d, g=g), whole(steps * n, d, g=g)
    chosen = torch.tensor([[2, -1, 0, -1, 4], [-1, -1, -1, -1, -1], [4, 3, -1, 0, 1]], dtype=torch.int32, device="cpu")
    o = torch.full((programs * m, d), float("nan"), device=device)
    seen = torch.full((programs, steps, m), float("nan"), device=device)
    given = [x.half().to(device) for x in (q, k, v)]
    sparse[(programs,)](*given, chosen.to(device), o, seen, steps, m, n, d, kind)
    for p in range(programs):
        x = q[p * m : p * m + m]
        top = torch.full((m,), -1000.0, dtype=torch.double, device="cpu")
        total = torch.zeros(m, d, dtype=torch.double, device="cpu")
        for step, block in enumerate(chosen[p].tolist()):
            rows, own = slice(block * n, block * n + n), slice(step * n, step * n + n)
            if block >= 0:
                scores = x @ (k[own] if kind == "behind" else k[rows]).T
                at = torch.arange(m, device="cpu")[:, None] + p * m >= torch.arange(n, device="cpu")[None, :]
                top = torch.maximum(top, scores.max(1).values)
                total += torch.where(at, scores, 0.0) @ v[rows]
                if kind == "stores":
                    assert torch.equal(seen[p, step].cpu().double(), top)
            else:
                total += (x @ v[own].T) @ v[own] if kind == "else" else 0.0
                assert seen[p, step].isnan().all()
        result = total + top[:, None] + (chosen[p] >= 0).sum()
        assert torch.equal(o[p * m : p * m + m].cpu().double(), result)


@tileon.jit
def nested(q, k, v, o, tiles, lengths, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr):
    """A program has several tiles of queries, each with as many keys as its length says."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        x = tl.load(q + (tile * M + m[:, None]) * D + d[None, :])
        total = tl.zeros((M, D), tl.float32)
        length = tl.load(lengths + tile)
        for start in range(0, length, N):
            at = (start + n)[:, None] * D + d[None, :]
            inside = (start + n)[:, None] < length
            y = tl.load(k + at, mask=inside, other=0.0)
            low = tl.dot(x, tl.trans(y)).to(tl.float16)
            if KIND == "skips":
                if start != N:
                    total += tl.dot(low, tl.load(v + at, mask=inside, other=0.0))
            else:
                total += tl.dot(low, tl.load(v + at, mask=inside, other=0.0))
        if KIND == "behind":
            total = tl.dot(total.to(tl.float16), tl.load(k + d[:, None] * D + d[None, :]))
        tl.store(o + (tile * M + m[:, None]) * D + d[None, :], total)


@pytest.mark.parametrize("kind", ["plain", "skips", "behind"])
@pytest.mark.parametrize("m, n, d", [(64, 64, 64), (128, 64, 64), (64, 32, 64), (128, 64, 128)])
def test_nested(device, kind, m, n, d):
    g = torch.Generator().manual_seed(m + n + d)
    lengths = [200, 0, 64, 1, 131, 97, 32]
    q, k, v = whole(len(lengths) * m, d, g=g), whole(256, d, g=g), whole(256, d, g=g)
    if kind == "behind":  # exact in halves
        v = v * (torch.arange(256, device="cpu")[:, None] < 4)
    o = torch.full((len(lengths) * m, d), float("nan"), device=device)
    given = [x.half().to(device) for x in (q, k, v)]
    nested[(3,)](*given, o, len(lengths), torch.tensor(lengths, dtype=torch.int32, device=device), m, n, d, kind)
    for tile, length in enumerate(lengths):
        x, total = q[tile * m : tile * m + m], torch.zeros(m, d, dtype=torch.double, device="cpu")
        for start in range(0, length, n):
            rows = slice(start, min(start + n, length))
            if kind != "skips" or start != n:
                total += (x @ k[rows].T).half().double() @ v[rows]
        if kind == "behind":
            total = total.half().double() @ k[:d]
        assert torch.equal(o[tile * m : tile * m + m].cpu().double(), total)


@tileon.jit
def either(q, k, v, o, ways, M: tl.constexpr, D: tl.constexpr):
    """One of two loops."""
    p, m, d = tl.program_id(0), tl.arange(0, M), tl.arange(0, D)
    x = tl.load(q + (p * M + m[:, None]) * D + d[None, :])
    way = tl.load(ways + p)
    total = tl.zeros((M, D), tl.float32)
    if way > 0:
        for step in range(way):
            y = tl.load(k + (step * 64 + tl.arange(0, 64))[:, None] * D + d[None, :])
            total += tl.dot(tl.dot(x, tl.trans(y)).to(tl.float16), y)
    else:
        y = tl.load(v + m[None, :] * D + d[:, None])
        total = tl.dot(tl.dot(x, y).to(tl.float16), tl.trans(y))
    tl.store(o + (p * M + m[:, None]) * D + d[None, :], total)


@pytest.mark.parametrize("m, d", [(64, 64), (128, 64), (64, 128)])
def test_either(device, m, d):
    g = torch.Generator().manual_seed(m + d)
    ways = [2, 0, 1, -3]
    q, k, v = whole(len(ways) * m, d, g=g), whole(128, d, g=g), whole(m, d, g=g)
    o = torch.full((len(ways) * m, d), float("nan"), device=device)
    given = [x.half().to(device) for x in (q, k, v)]
    either[(len(ways),)](*given, o, torch.tensor(ways, dtype=torch.int32, device=device), m, d)
    for p, way in enumerate(ways):
        x, y = q[p * m : p * m + m], k[: 64 * way] if way > 0 else v
        assert torch.equal(o[p * m : p * m + m].cpu().double(), (x @ y.T) @ y)


@tileon.jit
def branch(a, b, flag, out, M: tl.constexpr, KIND: tl.constexpr):
    """Branches without a loop: one product each, or none."""
    m = tl.arange(0, M)
    at = m[:, None] * M + m[None, :]
    way = tl.load(flag)
    x = tl.load(a + at)
    acc = tl.full((M, M), 1.0, tl.float32)
    if KIND == "none":
        if way == 0:
            acc = tl.dot(x, tl.load(b + at), acc)
        elif way == 1:
            acc += tl.dot(x, tl.load(b + M * M + at))
    elif KIND == "same":  # tile in both, step by step
        for step in range(2):
            if way == step:
                acc += tl.dot(x, tl.load(b + step * M * M + at))
            else:
                acc += tl.dot(x, tl.load(b + step * M * M + at)) * 2
    else:
        if way == 0:
            acc += tl.dot(x, tl.load(b + at))
        else:
            acc += tl.dot(x, tl.load(b + M * M + at))
    tl.store(out + at, acc)


@pytest.mark.parametrize("kind", ["none", "else", "same"])
@pytest.mark.parametrize("m", [64, 128])
def test_branch(device, kind, m):
    g = torch.Generator().manual_seed(m)
    a, b = whole(m, m, g=g), whole(2 * m, m, g=g)
    for way in range(3):
        out = torch.full((m, m), float("nan"), device=device)
        flag = torch.full((1,), way, dtype=torch.int32, device=device)
        branch[(1,)](a.half().to(device), b.half().to(device), flag, out, m, kind)
        product = torch.zeros(m, m, dtype=torch.double, device="cpu")
        if way == 0 or kind == "else" or way == 1:
            product = a @ (b[:m] if way == 0 else b[m:])
        if kind == "same":
            product = a @ b[:m] * (1 if way == 0 else 2) + a @ b[m:] * (1 if way == 1 else 2)
        assert torch.equal(out.cpu().double(), product + 1)


@tileon.jit
def weighted(a, b, weights, out, STEPS: tl.constexpr, M: tl.constexpr, KIND: tl.constexpr):
    """What decides is a float, carried or loaded by a pointer that goes on."""
    m = tl.arange(0, M)
    at = m[:, None] * M + m[None, :]
    x = tl.load(a + at)
    acc = tl.zeros((M, M), tl.float32)
    least = 4.0
    here = weights
    for step in range(STEPS):
        weight = tl.load(here)
        if weight > least if KIND == "carried" else weight != 0.0:
            y = tl.load(b + step * M * M + at)
            acc += tl.dot(tl.dot(x, y).to(tl.float16), y)
        least = least * 0.5
        here += 1
    tl.store(out + at, acc)


@pytest.mark.parametrize("kind", ["carried", "pointer"])
def test_weighted(device, kind):
    g = torch.Generator().manual_seed(2)
    weights = [5.0, 1.0, 0.0, 3.0, 0.25]
    a, b = whole(64, 64, g=g), whole(5 * 64, 64, g=g)
    out = torch.full((64, 64), float("nan"), device=device)
    weighted[(1,)](a.half().to(device), b.half().to(device), torch.tensor(weights, device=device), out, 5, 64, kind)
    expected, least = torch.zeros(64, 64, dtype=torch.double, device="cpu"), 4.0
    for step, weight in enumerate(weights):
        if weight > least if kind == "carried" else weight != 0:
            y = b[step * 64 : step * 64 + 64]
            expected += (a @ y).half().double() @ y
        least *= 0.5
    assert torch.equal(out.cpu().double(), expected)
