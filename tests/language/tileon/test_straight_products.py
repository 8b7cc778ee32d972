"""Kernels of several products one after the other, without a loop, as the chunks of linear attention have them. Small integers
are exact."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

pytestmark = pytest.mark.gpu


@tileon.jit
def forward(q, k, v, h, o, scores, length, row, M: tl.constexpr, D: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr):
    """What a chunk takes from the state before it, and from its own past."""
    chunk, m, d, e = tl.program_id(0), tl.arange(0, M), tl.arange(0, D), tl.arange(0, E)
    at = chunk * M + m
    inside = at < length
    x = tl.load(q + at[:, None] * row + d[None, :], mask=inside[:, None], other=0.0)
    y = tl.load(k + at[None, :] * row + d[:, None], mask=inside[None, :], other=0.0)
    state = tl.load(h + chunk * D * E + d[:, None] * E + e[None, :]).to(q.dtype.element_ty)
    out = tl.dot(x, state)
    own = tl.dot(x, y)
    own = tl.where(m[:, None] >= m[None, :], own, 0.0)
    if KIND == "rows":
        own -= tl.max(own, 1)[:, None]
    if KIND == "shown":
        tl.store(scores + chunk * M * M + m[:, None] * M + m[None, :], own)
    z = tl.load(v + at[:, None] * row + e[None, :], mask=inside[:, None], other=0.0)
    out = out * 2 + tl.dot(own.to(q.dtype.element_ty), z)
    tl.store(o + at[:, None] * row + e[None, :], out, mask=inside[:, None])


def whole(*shape, g, most=1):
    return torch.randint(-most, most + 1, shape, generator=g, device="cpu").double()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kind", ["plain", "rows", "shown"])
@pytest.mark.parametrize(
    "m, d, e, length, row",
    [(64, 64, 64, 200, 64), (64, 128, 128, 128, 136), (128, 64, 64, 300, 64), (64, 32, 64, 1, 72), (128, 128, 128, 131, 128),
     (64, 64, 256, 64, 256), (128, 64, 32, 257, 67), (64, 128, 64, 0, 128)],
)  # fmt: skip
def test_forward(device, kind, dtype, m, d, e, length, row):
    g = torch.Generator().manual_seed(m + d + e)
    chunks = max(-(-length // m), 1)
    q, k, v = (whole(length, row, g=g) for _ in range(3))
    h = whole(chunks, d, e, g=g)
    o = torch.full((length, row), float("nan"), device="cpu")
    scores = torch.full((chunks, m, m), float("nan"), device="cpu")
    out, shown = o.to(device), scores.to(device)
    given = [x.to(dtype).to(device) for x in (q, k, v)]
    forward[(chunks,)](*given, h.float().to(device), out, shown, length, row, m, d, e, kind)
    expected, own_expected = torch.full((length, row), float("nan"), dtype=torch.double, device="cpu"), scores.double()
    for chunk in range(chunks):
        rows = slice(chunk * m, min(chunk * m + m, length))
        x, y, z = q[rows, :d], k[rows, :d], v[rows, :e]
        own = torch.zeros(m, m, dtype=torch.double, device="cpu")
        own[: len(x), : len(x)] = (x @ y.T).tril()
        if kind == "rows":
            own -= own.max(1, keepdim=True).values
        if kind == "shown":
            own_expected[chunk] = own
        expected[rows, :e] = 2 * (x @ h[chunk]) + own[: len(x), : len(x)].to(dtype).double() @ z
    assert torch.equal(out.cpu().double().nan_to_num(7e7), expected.nan_to_num(7e7))
    assert torch.equal(shown.cpu().double().nan_to_num(7e7), own_expected.nan_to_num(7e7))


@tileon.jit
def backward(q, k, v, g, h, dq, dk, dw, length, M: tl.constexpr, D: tl.constexpr, W: tl.constexpr):
    """Gradients of a chunk: factors that are computed and turned, sums that go on, results that go out between products."""
    chunk, m, d = tl.program_id(0), tl.arange(0, M), tl.arange(0, D)
    at = (chunk * M + m)[:, None] * D + d[None, :]
    inside = (chunk * M + m)[:, None] < length
    x = tl.load(q + at, mask=inside, other=0.0)
    y = tl.load(k + at, mask=inside, other=0.0)
    z = tl.load(v + at, mask=inside, other=0.0)
    back = tl.load(g + at, mask=inside, other=0.0)
    state = tl.load(h + chunk * D * D + d[:, None] * D + d[None, :])
    part = tl.dot(back, tl.trans(z))
    part = tl.where(m[:, None] >= m[None, :], part, 0.0)
    of_q = tl.dot(back, state.to(x.dtype))
    if W:
        of_w = tl.dot(z, tl.trans(state.to(x.dtype)))
        tl.store(dw + at, of_w, mask=inside)
    low = part.to(x.dtype)
    of_q += tl.dot(low, y)
    of_k = tl.dot(tl.trans(low), x)
    tl.store(dq + at, of_q, mask=inside)
    tl.store(dk + at, of_k, mask=inside)


@pytest.mark.parametrize("w", [False, True])
@pytest.mark.parametrize("m, d, length", [(64, 64, 150), (64, 128, 64), (128, 64, 129), (64, 64, 3)])
def test_backward(device, w, m, d, length):
    g = torch.Generator().manual_seed(m + d + length)
    chunks = -(-length // m)
    q, k, v, back = (whole(length, d, g=g) for _ in range(4))
    h = whole(chunks, d, d, g=g)
    results = [torch.full((length, d), float("nan"), device=device) for _ in range(3)]
    given = [x.half().to(device) for x in (q, k, v, back)]
    backward[(chunks,)](*given, h.float().to(device), *results, length, m, d, w)
    for chunk in range(chunks):
        rows = slice(chunk * m, min(chunk * m + m, length))
        part = (back[rows] @ v[rows].T).tril()
        assert torch.equal(results[0][rows].cpu().double(), back[rows] @ h[chunk] + part @ k[rows])
        assert torch.equal(results[1][rows].cpu().double(), part.T @ q[rows])
        if w:
            assert torch.equal(results[2][rows].cpu().double(), v[rows] @ h[chunk].T)
    assert w or results[2].isnan().all()


@tileon.jit
def in_place(a, b, out, N: tl.constexpr):
    """Its result goes where a factor of it was."""
    n = tl.arange(0, N)
    at = n[:, None] * N + n[None, :]
    x, y = tl.load(a + at), tl.load(b + at)
    z = tl.dot(x, y)
    tl.store(a + at, tl.dot(z.to(a.dtype.element_ty), x))
    tl.store(out + at, z)


def test_in_place(device):
    g = torch.Generator().manual_seed(1)
    a, b = whole(64, 64, g=g), whole(64, 64, g=g)
    x, out = a.half().to(device), torch.full((64, 64), float("nan"), device=device)
    in_place[(1,)](x, b.half().to(device), out, 64)
    assert torch.equal(out.cpu().double(), a @ b)
    assert torch.equal(x.cpu().double(), (a @ b @ a).half().double())
