"""Sums, maxima and running sums over lanes of several warps between products: block IR has them, and they are right.

Numbers are small integers, so that results are exact whatever the order."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "between_programs.py")


def draw(device, *shape, dtype=torch.bfloat16):
    return torch.randint(-2, 3, shape).to(device, dtype)


def gradients(device, rows, reverse):
    n, wide, depth = 2 * rows, 64, 128
    q, k = draw(device, n, depth), draw(device, n, wide)
    h, dh = draw(device, wide, depth), draw(device, wide, depth)
    out, top = torch.full((n, wide), float("nan"), device=device), torch.full((2, wide), float("nan"), device=device)
    kernel = PROGRAMS.gradients[(2,)](q, h, dh, k, out, top, n, BT=rows, BK=wide, BV=64, V=depth, REVERSE=reverse, num_warps=4)
    acc = (q.double() @ (h.double() + dh.double()).mT).view(2, rows, wide)
    line = (h.double() * dh.double()).sum(-1) + (acc * k.double().view(acc.shape)).sum(1)
    before = acc.flip(1).cumsum(1).flip(1) if reverse else acc.cumsum(1)
    assert torch.equal(out.double().view(acc.shape), before - acc + line[:, None])
    assert torch.equal(top.double(), acc.amax(1))
    return kernel.module


def weighted(device, rows, threads):
    n, columns, depth = 2 * rows, 64, 64
    a, b, c = draw(device, n, depth), draw(device, n * depth, columns), draw(device, columns, columns)
    kernel = PROGRAMS.weighted(n, rows, columns, depth, threads)
    out, line = kernel(a, b, c)
    exact, carried = torch.zeros(2, rows, columns, dtype=torch.float64, device=device), 0
    for step in range(2):
        s = (a.double() @ b[step * depth :][:depth].double()).view(2, rows, columns)
        across = s.sum(1)
        p = (s * 2 > s.amax(2, keepdim=True)).double() + (across > 0).double()[:, None]
        exact += p @ c.double()
        carried = carried + across + across.sum(1, keepdim=True)
    assert torch.equal(out.double().view(exact.shape), exact)
    assert torch.equal(line.double(), carried)
    return kernel._latest().module


def differences(device, threads):
    rows, depth = 64, 64
    a, b = draw(device, rows, depth, dtype=torch.float16), draw(device, rows, depth, dtype=torch.float16)
    kernel = PROGRAMS.differences(rows, depth, threads)
    s = a.double() @ b.double().mT
    x, y = s.sum(1), s.sum(0)
    assert torch.equal(kernel(a, b).double(), torch.stack([x - y, x * 2 + y]))
    return kernel._latest().module


CASES = {
    "columns": lambda device: gradients(device, 64, False),
    "columns of two warpgroups": lambda device: gradients(device, 128, False),
    "from the end": lambda device: gradients(device, 64, True),
    "from the end of two": lambda device: gradients(device, 128, True),
    "factors": lambda device: weighted(device, 64, 128),
    "factors of two warpgroups": lambda device: weighted(device, 128, 256),
    "rows and columns": lambda device: differences(device, 128),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
