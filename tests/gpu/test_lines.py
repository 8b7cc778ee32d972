"""Scans and sums along each dimension of a tile: each element once, in order, however threads share the lines."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).with_name("line_programs.py"))
SHAPES = [(1, 64), (2, 2), (16, 32), (64, 32), (128, 16), (64, 64), (8, 256), (256, 4), (64, 1)]
pytestmark = pytest.mark.gpu


def whole(shape, dtype):
    return torch.randint(-4, 5, shape, device="cuda").to(dtype)


def scanned(x, axis, reverse):
    x = x.double()
    return x.flip(axis).cumsum(axis).flip(axis) if reverse else x.cumsum(axis)


def poisoned(*shape, dtype):
    return torch.full(shape, 77, device="cuda").to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("axis, reverse", [(0, False), (0, True), (1, False), (1, True)])
def test_tiles(axis, reverse, warps, dtype):
    for m, n in SHAPES:
        x, rest = whole((m, n), dtype), n if axis == 0 else m
        out, sums, most = poisoned(m, n, dtype=dtype), poisoned(rest, dtype=dtype), poisoned(rest, dtype=dtype)
        PROGRAMS.whole_tile[(1,)](x, out, sums, most, M=m, N=n, AXIS=axis, REVERSE=reverse, num_warps=warps)
        assert torch.equal(out.double(), scanned(x, axis, reverse)), (m, n)
        assert torch.equal(sums.double(), x.double().sum(axis)) and torch.equal(most, x.amax(axis)), (m, n)


@pytest.mark.parametrize("warps", [1, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_what_does_not_commute(reverse, warps):
    for m, n in SHAPES:
        for axis in (0, 1):
            x, out = whole((m, n), torch.float32), poisoned(m, n, dtype=torch.float32)
            PROGRAMS.recurrence[(1,)](x, out, M=m, N=n, AXIS=axis, REVERSE=reverse, num_warps=warps)
            lines = (x.flip(axis) if reverse else x).unbind(axis)
            states = [lines[0]]
            for line in lines[1:]:
                states.append(line - states[-1])
            exact = torch.stack(states, axis)
            assert torch.equal(out, exact.flip(axis) if reverse else exact), (m, n, axis)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("size", [1, 2, 64, 4096, 8192])
def test_rows(size, warps, dtype):
    for reverse in (False, True):
        n = max(1, size - 3)
        x, out = torch.randint(-1, 2, (size,), device="cuda").to(dtype), poisoned(size, dtype=dtype)
        PROGRAMS.row[(1,)](x, out, n, N=size, REVERSE=reverse, num_warps=warps)
        exact = scanned(x[:n], 0, reverse)
        exact = exact.long().to(torch.int8) if dtype == torch.int8 else exact.to(dtype)
        assert torch.equal(out[:n], exact) and bool((out[n:] == 77).all())


def test_pairs():
    for size in (32, 2048):
        x = whole((size,), torch.float32)
        values, places = poisoned(size, dtype=torch.float32), poisoned(size, dtype=torch.int32)
        PROGRAMS.running_largest[(1,)](x, values, places, N=size)
        exact = torch.cummax(x, 0).values
        assert torch.equal(values, exact)
        first = torch.stack([torch.nonzero(x[: i + 1] == exact[i])[0, 0] for i in range(size)])
        assert torch.equal(places.long(), first)


@pytest.mark.parametrize("m, n", [(0, 40), (1, 64), (100, 72), (256, 32)])
@pytest.mark.parametrize("tile, warps", [((16, 32), 2), ((64, 32), 4), ((32, 64), 8)], ids=str)
def test_columns_by_pieces(tile, warps, m, n):
    x, out = whole((m, n), torch.float32), poisoned(m, n, dtype=torch.float32)
    totals = poisoned(n, dtype=torch.float32)
    PROGRAMS.columns_by_pieces[(-(-n // tile[1]),)](x, out, totals, m, n, M=tile[0], N=tile[1], num_warps=warps)
    assert torch.equal(out.double(), x.double().cumsum(0)) and torch.equal(totals.double(), x.double().sum(0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("k, v, warps", [(64, 64, 4), (16, 128, 8), (32, 8, 1)])
def test_recurrent_states(k, v, warps, dtype):
    steps = 9
    keys, queries, gates = (torch.randn(steps, k, device="cuda").to(dtype) for _ in range(3))
    values, out = torch.randn(steps, v, device="cuda").to(dtype), poisoned(steps, v, dtype=torch.float32)
    gates = -gates.abs()
    PROGRAMS.recurrent_state[(1,)](queries, keys, values, gates, out, steps, K=k, V=v, num_warps=warps)
    state, exact, size = torch.zeros(k, v, dtype=torch.float64, device="cuda"), [], []
    bound = state.clone()
    for q, key, value, gate in zip(queries.double(), keys.double(), values.double(), gates.double()):
        state = state * gate.exp()[:, None] + key[:, None] * value[None, :]
        bound = bound * gate.exp()[:, None] + key.abs()[:, None] * value.abs()[None, :]
        exact.append(q @ state)
        size.append(q.abs() @ bound)
    # Each of the products, sums and powers that lead to an element errs by 2 ULP at most.
    assert bool(((out.double() - torch.stack(exact)).abs() <= (5 * steps + k) * 2.0**-23 * torch.stack(size)).all())
