"""Factors of products that no thread computes by itself, element by element: lines that are sorted, summed up or gathered, what
branches choose of them, and loops. All threads of a GPU's block read what all have stored, in each step anew."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def product(a, b, y, limit, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BK):
        at = start + k
        left = tl.load(a + i[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0)
        right = tl.load(b + at[:, None] * N + j[None, :], mask=at[:, None] < K, other=0.0)
        if KIND == "sorted":
            left = tl.sort(left, 1)
        elif KIND == "scanned":
            left = tl.cumsum(left, 1)
        elif KIND == "both":
            left, right = tl.cumsum(left, 0), tl.cumsum(right, 0)
        elif KIND == "gathered":
            left = tl.gather(left, tl.broadcast_to(((k * 3 + 1) % BK)[None, :], (M, BK)), 1)
        elif KIND == "branch of scans":
            if start < limit:
                left = tl.cumsum(left, 1)
            else:
                left = tl.sort(left, 1)
        elif KIND == "branches":
            if start < limit:
                right = tl.cumsum(right, 0)
            elif start < 2 * limit:
                right = right * 2
            if start > 0:
                left = tl.flip(left, 1)
        elif KIND == "loop":
            for _ in range(start // BK % 3):
                left = tl.cumsum(left, 1)
        total = tl.dot(left.to(tl.float16), right.to(tl.float16), total)
    tl.store(y + i[:, None] * N + j[None, :], total)


def exact(a, b, limit, block, kind):
    """The steps' products in float64: whole numbers of few bits, so that each is exact."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64, device="cpu")
    for step, start in enumerate(range(0, a.shape[1], block)):
        left = torch.zeros(a.shape[0], block, dtype=torch.float64, device="cpu")
        right = torch.zeros(block, b.shape[1], dtype=torch.float64, device="cpu")
        part = a[:, start : start + block]
        left[:, : part.shape[1]], right[: part.shape[1]] = part, b[start : start + block]
        if kind == "sorted" or (kind == "branch of scans" and start >= limit):
            left = left.sort(1).values
        elif kind == "scanned" or kind == "branch of scans":
            left = left.cumsum(1)
        elif kind == "both":
            left, right = left.cumsum(0), right.cumsum(0)
        elif kind == "gathered":
            left = left[:, (torch.arange(block, device="cpu") * 3 + 1) % block]
        elif kind == "branches":
            right = right.cumsum(0) if start < limit else right * 2 if start < 2 * limit else right
            left = left.flip(1) if start else left
        elif kind == "loop":
            for _ in range(step % 3):
                left = left.cumsum(1)
        total += left @ right
    return total


KINDS = ["sorted", "scanned", "both", "gathered", "branch of scans", "branches", "loop"]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "n", "block", "k", "stages"), [(64, 32, 16, 112, 3), (32, 64, 32, 150, 4), (16, 16, 64, 200, 2)])
def test_factors(device, m, n, block, k, stages, kind):
    generator = torch.Generator().manual_seed(m)
    a, b = (torch.randint(-1, 2, shape, generator=generator, device="cpu").float() for shape in ((m, k), (k, n)))
    y = torch.full((m + 2, n), float("nan"), device=device)
    product[(1,)](a.to(device), b.to(device), y[1:-1], 2 * block, k, m, n, block, kind, num_stages=stages)
    assert torch.equal(y[1:-1].double().cpu(), exact(a, b, 2 * block, block, kind))
    assert y[0].isnan().all() and y[-1].isnan().all()
