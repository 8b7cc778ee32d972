"""Factors that are computed: both of a product in f32, the second one through shared memory along k; a first one of a tile
that is loaded in its step, which comes through a ring. They are right.

Numbers are small integers, so that results are exact whatever the order."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "computed_programs.py")


def draw(device, *shape, low=-2, high=3, dtype=torch.bfloat16):
    return torch.randint(low, high, shape).to(device, dtype)


def states(device, keys, turned):
    n, values = 128, 64
    k, v, g = draw(device, n, keys), draw(device, n, values), draw(device, n, dtype=torch.float32)
    before, out = (torch.full((*x, keys, values), float("nan"), device=device) for x in ((2,), ()))
    kernel = PROGRAMS.states[(1,)](k, v, g, before, out, n, BT=64, K=keys, V=values, TURNED=turned, num_warps=4)
    weights = g.double()[:, None]
    parts = [x.view(2, n // 2, -1) for x in (k.double() * weights, v.double() + weights)]
    first, second = parts[0].mT @ parts[1]
    assert torch.equal(before.double(), torch.stack([first * 0, first])) and torch.equal(out.double(), first + second)
    return kernel.module


def gradients(device, keys, threads, stages):
    n, rows, values = 128, 64, 64
    q, d, g = draw(device, n, keys, low=-1, high=2), draw(device, n, values, low=-1, high=2), draw(device, n, dtype=torch.float32)
    kernel = PROGRAMS.gradients(n, rows, keys, values, threads, stages)
    exact = torch.zeros(keys, values, dtype=torch.float64, device=device)
    for at in range(0, n, rows):
        x, y, w = (t[at : at + rows].double() for t in (q, d, g))
        own = x @ exact.bfloat16().double()
        exact += (x * w[:, None]).mT @ (y + (own > 0))
    assert torch.equal(kernel(q, d, g).double(), exact)
    return kernel._latest().module


def scan(device, rows, cols, step, threads, stages, causal, parts=5):
    n, keys = rows * parts, 64
    shapes = (n, keys), (parts, cols, keys), (n, n), (n,), (n, cols)
    c, s, w, g, x = (draw(device, *shape, low=-1, high=2, dtype=torch.float16) for shape in shapes)
    kernel = PROGRAMS.scan(n, rows, cols, keys, step, threads, stages, causal)
    first = 2 * torch.einsum("prk,pck->prc", c.view(parts, rows, keys).double(), s.double()).reshape(n, cols)
    weights = w.double() * g.double()
    exact = first + (weights.tril() if causal else weights) @ x.double() + x.double()
    assert torch.equal(kernel(c, s, w, g, x).double(), exact)
    return kernel._latest().module


def keys_and_values(device, rows, wide, step, dtype, threads, stages=2, values_first=False):
    n = 5 * step
    kernel = PROGRAMS.keys_and_values(rows, n, wide, step, str(dtype)[6:], threads, stages, values_first)
    q, w = (draw(device, 2 * rows, x, low=-1, high=2, dtype=torch.float16) for x in (wide, n))
    kv = draw(device, n, wide, dtype=torch.float32)
    keys = kv.double() * (2 if dtype == torch.float16 else 1)
    scores = q.double() @ keys.T
    exact = w.double() @ keys + scores.sum(1, keepdim=True) if values_first else scores @ keys
    assert torch.equal(kernel(q, kv.to(dtype), w).double(), exact)
    return kernel._latest().module


E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
CASES = {
    "turned": lambda device: states(device, 64, True),
    "turned by two warpgroups": lambda device: states(device, 128, True),
    "as it lies": lambda device: states(device, 128, False),
    "buffers": lambda device: gradients(device, 64, 128, 0),
    "in front of a loop": lambda device: scan(device, 64, 64, 64, 128, 2, True),
    "in front of a loop of halves": lambda device: scan(device, 64, 128, 32, 128, 3, True),
    "in front of a loop of two warpgroups": lambda device: scan(device, 128, 64, 64, 256, 2, False),
    "keys that are values": lambda device: keys_and_values(device, 64, 128, 64, E4M3, 128),
    "keys that are values, doubled": lambda device: keys_and_values(device, 64, 128, 32, torch.float16, 128),
    "keys that are values, multiplied first": lambda device: keys_and_values(device, 64, 128, 64, E5M2, 128, 3, True),
    "keys that are values of two warpgroups": lambda device: keys_and_values(device, 128, 128, 64, E5M2, 256),
    "keys that are values, columns of two warpgroups": lambda device: keys_and_values(device, 64, 512, 32, E4M3, 256),
    "buffers of two warpgroups": lambda device: gradients(device, 128, 256, 2),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")


@pytest.mark.gpu
def test_one_slot_of_keys_that_are_values():
    """Both warpgroups write it, and wait for each other in each step (ptxas spills)."""
    keys_and_values("cuda", 64, 512, 64, E4M3, 256)
