"""Linear attention by chunks on Hopper: it goes through block IR, and is right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "chunk_programs.py")
UNIT = 2.0**-11  # of f16


def close(out, exact, size, depth):
    """Factors and results are rounded to f16, sums of `depth` products in f32 cut off; `size` is of sums without signs."""
    bound = 1.01 * (UNIT * (size + exact.abs()) + 2.0**-22 * depth * size + 2.0**-24)
    assert ((out.double() - exact).abs() <= bound).all()


def outputs(device, gated):
    heads, n, chunk, wide = 2, 256, 64, 128
    q, k, v = (torch.randn(heads, n, wide, device=device).half() for _ in range(3))
    h = torch.randn(heads, n // chunk, wide, wide, device=device).half()
    gate = -torch.rand(heads, n, device=device).cumsum(-1) / 64
    out = torch.full_like(v, float("nan"))
    kernel = PROGRAMS.chunk_outputs[(wide // 64, n // chunk, heads)](
        q, k, v, h, gate, out, 0.125, n, BT=chunk, BK=64, BV=64, K=wide, V=wide, GATED=gated, num_warps=4
    )
    parts = [x.double().view(heads, n // chunk, chunk, -1) for x in (q, k, v)]
    decay = gate.double().view(heads, n // chunk, chunk, 1) if gated else torch.zeros(1, 1, device=device)

    def combined(a, b, c, state):
        weights = ((a @ b.mT) * torch.exp(decay - decay.mT)).tril()
        return ((a @ state) * torch.exp(decay) + weights @ c) * 0.125

    exact = combined(*parts, h.double())
    size = combined(*(x.abs() for x in parts), h.double().abs())
    close(out.view(exact.shape), exact, size, 2 * wide + chunk)
    return kernel.module


def scan(device):
    batch, n, heads, state, d, chunk = 1, 512, 2, 128, 64, 256
    kernel = PROGRAMS.chunk_scan(batch, n, heads, state, d, chunk, 64, 64, 64)
    draw = lambda *shape: torch.randn(*shape, device=device).half()
    cb, x, c = draw(batch, n // chunk, chunk, chunk), draw(batch, n, heads, d), draw(batch, n, state)
    states = draw(batch, n // chunk, heads, d, state)
    a = -torch.rand(batch, heads, n // chunk, chunk, device=device).cumsum(-1) / 64
    out = torch.full_like(x, float("nan"))
    kernel(cb, x, a, c, states, out)
    decay = a.double()[..., None]  # batch, heads, chunks, rows, 1

    def combined(of):
        own = (of(cb)[:, None] * torch.exp(decay - decay.mT)).tril()
        rows = of(x).view(batch, n // chunk, chunk, heads, d).permute(0, 3, 1, 2, 4)
        before = of(c).view(batch, 1, n // chunk, chunk, state) @ of(states).permute(0, 2, 1, 4, 3)
        return (before * torch.exp(decay) + own @ rows).permute(0, 2, 3, 1, 4).reshape(out.shape)

    close(out, combined(lambda t: t.double()), combined(lambda t: t.double().abs()), state + chunk)
    return kernel._latest().module


def scores(device, batch=3, n=64):
    count, wide = 4, 128
    q, k = (torch.randn(batch, count, n, wide, device=device).half() for _ in range(2))
    out = torch.full((batch, count, n, 64), float("nan"), device=device)
    strides = [each for x in (q, k, out) for each in x.stride()[:3]]
    kernel = PROGRAMS.chunk_scores[(batch * count,)](q, k, out, batch, n, *strides, BT=64, BK=64, K=wide, num_warps=4)
    exact, size = (a @ b.mT for a, b in ((q.double(), k.double()), (q.double().abs(), k.double().abs())))
    close(out[..., :n], exact, size, wide)
    assert out[..., n:].isnan().all()
    return kernel.module


def gradients(device, n=256, negate=True):
    heads, chunk, wide = 2, 64, 128
    draw = lambda *shape: torch.randn(*shape, device=device).half() / 8
    q, k, v, do, dv = (draw(heads, n, wide) for _ in range(5))
    h, dh = (draw(heads, -(-n // chunk), wide, wide) for _ in range(2))
    dq, dk, dw = (torch.full_like(q, float("nan")) for _ in range(3))
    kernel = PROGRAMS.chunk_gradients[(h.shape[1], heads)](
        q, k, v, h, do, dh, dv, dq, dk, dw, n, 0.125, BT=chunk, K=wide, V=wide, NEGATE=negate, num_warps=4
    )

    def exact(of):
        parts = []
        for t, rows in enumerate(slice(at, min(at + chunk, n)) for at in range(0, n, chunk)):
            a, b, c, e, f = (of(x)[:, rows] for x in (q, k, v, do, dv))
            scores = (e @ c.mT).tril()
            before, behind = of(h)[:, t].mT, of(dh)[:, t].mT
            parts.append(((e @ before + scores @ b) * 0.125, c @ behind + scores.mT @ a * 0.125, f @ before))
        return [torch.cat(each, 1) for each in zip(*parts, strict=True)]

    results = exact(lambda x: x.double())
    sizes = exact(lambda x: x.double().abs())
    results[2] *= -1 if negate else 1
    for out, right, size in zip((dq, dk, dw), results, sizes, strict=True):
        close(out, right, size, 2 * wide + chunk)
    return kernel.module


CASES = {
    "outputs": lambda device: outputs(device, False),
    "gated": lambda device: outputs(device, True),
    "scan": scan,
    "scores": scores,
    "scores, one entry": lambda device: scores(device, 1),
    "scores, ragged": lambda device: scores(device, 5, 40),
    "gradients": gradients,
    "gradients, ragged": lambda device: gradients(device, 150),
    "gradients, one row": lambda device: gradients(device, 1, False),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


def test_what_a_quotient_leaves_is_a_coordinate():
    plan = _native.compile(scores("cpu"), disjoint=True, texts=True, target="sm_90a").plan
    assert "a: box of q, rank 4" in plan and "b: box of k, rank 4" in plan, plan


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
