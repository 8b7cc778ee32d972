"""States of linear attention and of the delta rule on Hopper: they go through block IR, and they are right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "state_programs.py")
MEASURED = compat.load(Path(__file__).parents[2] / "benchmarks" / "peers" / "tileon_chunks.py")
UNIT = 2.0**-11  # of f16
HEADS, WIDE, CHUNK = 2, 128, 64


def close(out, exact, size, roundings):
    """Factors and results are rounded to f16, `roundings` on the way; sums are cut off; `size` is of sums without signs."""
    assert ((out.double() - exact).abs() <= 1.01 * (UNIT * (roundings * size + exact.abs()) + 2.0**-13 * size + 2.0**-24)).all()


def draw(*shape, device):
    return (torch.randn(*shape, device=device) / 8).half()


def nothing_yet(*shape, device, dtype=torch.float16):
    return torch.full(shape, float("nan"), device=device, dtype=dtype)


def gates(n, device):
    return -torch.rand(n, HEADS, device=device).cumsum(0) / 64


def chunks(n):
    return [slice(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK)]


def states(device, n=192, gated=False, every=CHUNK, wide=CHUNK):
    k, v = (draw(n, HEADS, WIDE, device=device) for _ in range(2))
    first = torch.randn(HEADS, WIDE, WIDE, device=device) / 8
    g = gates(n, device)
    h = nothing_yet(-(-n // every), HEADS, WIDE, WIDE, device=device)
    last = nothing_yet(HEADS, WIDE, WIDE, device=device, dtype=torch.float32)
    kernel = PROGRAMS.states[(WIDE // wide, WIDE // 64, HEADS)](
        k, v, g, h, first, last, n, H=HEADS, K=WIDE, V=WIDE, BT=CHUNK, BS=every, BK=wide, BV=64, GATED=gated, num_warps=wide // 16
    )

    def exact(of):
        state, before = of(first), []
        for rows in chunks(n):
            before.append(state)
            gate = g[rows].double() if gated else torch.zeros_like(g[rows]).double()
            left = torch.exp(gate[-1] - gate)[..., None]
            state = state * torch.exp(gate[-1])[:, None, None] + torch.einsum("thk,thv->hkv", of(k[rows]), of(v[rows]) * left)
        return torch.stack(before[:: every // CHUNK]), state

    for out, right, size in zip((h, last), exact(lambda x: x.double()), exact(lambda x: x.double().abs()), strict=True):
        close(out, right, size, 1)
    return kernel.module


def delta(device, n=192, columns=64):
    k, v, w = (draw(n, HEADS, WIDE, device=device) for _ in range(3))
    g, new = gates(n, device), nothing_yet(n, HEADS, WIDE, device=device)
    h = nothing_yet(len(chunks(n)), HEADS, WIDE, WIDE, device=device)
    kernel = MEASURED.delta_states[(WIDE // columns, HEADS)](
        k, v, w, new, g, h, n, H=HEADS, K=WIDE, V=WIDE, BT=CHUNK, BV=columns, num_warps=4
    )

    def exact(of, sign):
        state, before, changes = torch.zeros(HEADS, WIDE, WIDE, device=device).double(), [], []
        for rows in chunks(n):
            before.append(state)
            gate = g[rows].double()
            changes.append(of(v[rows]) - sign * torch.einsum("thk,hkv->thv", of(w[rows]), state))
            added = torch.einsum("thk,thv->hkv", of(k[rows]), changes[-1] * torch.exp(gate[-1] - gate)[..., None])
            state = state * torch.exp(gate[-1])[:, None, None] + added
        return torch.stack(before), torch.cat(changes)

    right, size = exact(lambda x: x.double(), 1), exact(lambda x: x.double().abs(), -1)
    for out, each, of in zip((h, new), right, size, strict=True):
        close(out, each, of, 2 * len(chunks(n)))
    return kernel.module


def weighted(device, n=192):
    v, a, beta = draw(n, HEADS, WIDE, device=device), draw(n, HEADS, CHUNK, device=device), torch.rand(n, HEADS, device=device)
    u = nothing_yet(n, HEADS, WIDE, device=device)
    kernel = PROGRAMS.weighted[(n // CHUNK, HEADS)](v, beta, a, u, n, H=HEADS, V=WIDE, BT=CHUNK, BV=64, num_warps=4)

    def exact(of):
        scaled = of(v) * beta.double()[..., None]
        return torch.cat([torch.einsum("ths,shv->thv", of(a[rows]), scaled[rows]) for rows in chunks(n)])

    close(u, exact(lambda x: x.double()), exact(lambda x: x.double().abs()), 1)
    return kernel.module


def gradients(device, n=192):
    q, do = (draw(n, HEADS, WIDE, device=device) for _ in range(2))
    g, dh = gates(n, device), nothing_yet(len(chunks(n)), HEADS, WIDE, WIDE, device=device)
    kernel = PROGRAMS.gradients[(WIDE // 64, WIDE // 64, HEADS)](
        q, do, g, dh, n, 0.125, H=HEADS, K=WIDE, V=WIDE, BT=CHUNK, BK=64, BV=64, num_warps=4
    )

    def exact(of):
        state, behind = torch.zeros(HEADS, WIDE, WIDE, device=device).double(), []
        for rows in reversed(chunks(n)):
            behind.append(state)
            gate = g[rows].double()
            scaled = of(q[rows]) * torch.exp(gate)[..., None] * 0.125
            state = state * torch.exp(gate[-1])[:, None, None] + torch.einsum("thk,thv->hkv", scaled, of(do[rows]))
        return torch.stack(behind[::-1])

    close(dh, exact(lambda x: x.double()), exact(lambda x: x.double().abs()), 1)
    return kernel.module


def delta_gradients(device, n=192, wide=64, columns=64):
    q, k, w, do, dv = (draw(n, HEADS, wide, device=device) for _ in range(5))
    new, dh = torch.full_like(dv, float("nan")), nothing_yet(len(chunks(n)), HEADS, wide, wide, device=device)
    kernel = PROGRAMS.delta_gradients[(wide // columns, HEADS)](
        q, k, w, do, dv, new, dh, n, 0.125, H=HEADS, K=wide, V=wide, BT=CHUNK, BV=columns, num_warps=4
    )

    def exact(of, sign):
        state, behind, changes = torch.zeros(HEADS, wide, wide, device=device).double(), [], []
        for rows in reversed(chunks(n)):
            behind.append(state)
            changes.append(of(dv[rows]) + torch.einsum("thk,hkv->thv", of(k[rows]), state))
            state = state + 0.125 * torch.einsum("thk,thv->hkv", of(q[rows]), of(do[rows]))
            state = state - sign * torch.einsum("thk,thv->hkv", of(w[rows]), changes[-1])
        return [torch.stack(each[::-1]) if each is behind else torch.cat(each[::-1]) for each in (behind, changes)] if n else []

    right, size = exact(lambda x: x.double(), 1), exact(lambda x: x.double().abs(), -1)
    for out, each, of in zip((dh, new), right, size, strict=bool(n)):
        close(out, each, of, 2 * len(chunks(n)))
    return kernel.module


def fused(device, n=192, wide=64):
    q, k, v = (draw(n, HEADS, wide, device=device) for _ in range(3))
    out = torch.zeros(n, HEADS, wide, device=device)
    state = nothing_yet(HEADS, wide, wide, device=device, dtype=torch.float32)
    kernel = PROGRAMS.fused(HEADS, n, wide, CHUNK)
    kernel(q, k, v, out, state)

    def exact(of):
        x, y, z = (of(each).transpose(0, 1) for each in (q, k, v))
        return ((x @ y.mT) * 0.125).tril() @ z, y.mT @ z

    right, size = exact(lambda x: x.double()), exact(lambda x: x.double().abs())
    for each, of, result in zip(right, size, (out.transpose(0, 1), state), strict=True):
        close(result, each, of, 2)
    return kernel._latest().module


def tilelang_states(device, n=192):
    k, v = (draw(n, HEADS, WIDE, device=device) for _ in range(2))
    g, h = gates(n, device), nothing_yet(n // CHUNK, HEADS, WIDE, WIDE, device=device)
    kernel = PROGRAMS.gated_states(n, HEADS, WIDE, CHUNK)
    kernel(k, v, g, h)

    def exact(of):
        state, before = torch.zeros(HEADS, WIDE, WIDE, device=device).double(), []
        for rows in chunks(n):
            before.append(state)
            gate = g[rows].double()
            added = torch.einsum("thk,thv->hkv", of(k[rows]), of(v[rows]) * torch.exp(gate[-1] - gate)[..., None])
            state = state * torch.exp(gate[-1])[:, None, None] + added
        return torch.stack(before)

    close(h, exact(lambda x: x.double()), exact(lambda x: x.double().abs()), 1)
    return kernel._latest().module


def chunk_states(device, n=512, d=64, chunk=256):
    b, x = draw(n, WIDE, device=device), draw(n, HEADS, d, device=device)
    a = -torch.rand(HEADS, n // chunk, chunk, device=device).cumsum(-1) / 64
    out = nothing_yet(n // chunk, HEADS, d, WIDE, device=device)
    kernel = PROGRAMS.chunk_states(n, HEADS, d, WIDE, chunk, 64)
    kernel(b, x, a, out)
    left = torch.exp(a.double()[..., -1:] - a.double())

    def exact(of):
        rows, scaled = of(b).view(n // chunk, chunk, WIDE), of(x).view(n // chunk, chunk, HEADS, d)
        return torch.einsum("cts,cthd,hct->chds", rows, scaled, left)

    close(out, exact(lambda t: t.double()), exact(lambda t: t.double().abs()), 1)
    return kernel._latest().module


CASES = {
    "states": states,
    "gated": lambda device: states(device, gated=True),
    "gated, wide, ragged": lambda device: states(device, n=150, gated=True, wide=128),
    "gated, one chunk": lambda device: states(device, n=40, gated=True),
    "gated, TileLang": tilelang_states,
    "every other": lambda device: states(device, gated=True, every=2 * CHUNK),
    "delta rule": delta,
    "delta rule, ragged": lambda device: delta(device, 150),
    "delta rule, narrow": lambda device: delta(device, columns=32),
    "weighted": weighted,
    "gradients": gradients,
    "rule's gradients": delta_gradients,
    "rule's gradients, ragged": lambda device: delta_gradients(device, 150),
    "rule's gradients, narrow": lambda device: delta_gradients(device, 1, columns=32),
    "rule's gradients, none": lambda device: delta_gradients(device, 0),
    "fused": fused,
    "chunk states": chunk_states,
}


@pytest.mark.parametrize("case", CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(CASES[case]("cpu"))


AHEAD = [case for case in CASES if case.startswith(("gated", "every", "delta", "gradients"))]


@pytest.mark.parametrize("case", AHEAD)
def test_loads_gates_of_the_next_step(case):
    plan = _native.compile(CASES[case]("cpu"), disjoint=True, texts=True, target="sm_90a").plan
    assert " ahead=1 " in plan, plan


def test_the_copy_engine_brings_chunks_from_the_last_on():
    plan = _native.compile(delta_gradients("cpu"), disjoint=True, texts=True, target="sm_90a").plan
    assert "a: box of q" in plan and "a: box of w" in plan and "copied by threads" not in plan, plan


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
