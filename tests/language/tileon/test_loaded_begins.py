"""Products whose factors begin where a number in memory says, another one each step: no copy runs ahead of that number."""

import warnings

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def by_descriptors(a, b, starts, y, R, steps):
    left = tl.make_tensor_descriptor(a, [64, 64], [64, 1], [64, 64])
    right = tl.make_tensor_descriptor(b, [R, 64], [64, 1], [64, 64])
    total = tl.zeros((64, 64), tl.float32)
    for j in range(steps):
        total = tl.dot(left.load([0, 0]), right.load([tl.load(starts + j), 0]), total)
    tl.make_tensor_descriptor(y, [64, 64], [64, 1], [64, 64]).store([0, 0], total)


@tileon.jit
def by_pointers(a, b, starts, y, R, steps):
    i = tl.arange(0, 64)
    left = tl.load(a + i[:, None] * 64 + i[None, :])
    total = tl.zeros((64, 64), tl.float32)
    for j in range(steps):
        rows = tl.load(starts + j) + i
        inside = (rows[:, None] >= 0) & (rows[:, None] < R)
        total += tl.dot(left, tl.load(b + rows[:, None] * 64 + i[None, :], mask=inside, other=0.0))
    tl.store(y + i[:, None] * 64 + i[None, :], total)


@tileon.jit
def by_steps(a, b, starts, y, R, K, steps, HALVES: tl.constexpr):
    """Rows hang on the step's number, or on a number that it loads, where columns go on with each step."""
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), tl.float32)
    for k in range(steps):
        rows = (k // 2 * 64 if HALVES else tl.load(starts + k)) + i
        inside = (rows[:, None] >= 0) & (rows[:, None] < R)
        left = tl.load(a + rows[:, None] * K + (k * 64 + i)[None, :], mask=inside, other=0.0)
        total += tl.dot(left, tl.load(b + (k * 64 + i)[:, None] * 64 + i[None, :]))
    tl.store(y + i[:, None] * 64 + i[None, :], total)


@pytest.mark.parametrize("halves", [True, False])
def test_rows_and_steps(device, halves):
    a, b = torch.randn(160, 384).half(), torch.randn(384, 64).half()
    starts, y = torch.tensor([3, 64, 130, 0, -5, 300], dtype=torch.int32), torch.zeros(64, 64, device=device)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*crashed")
        by_steps[(1,)](a.to(device), b.to(device), starts.to(device), y, 160, 384, 6, halves)
    padded = torch.zeros(64 + 160 + 256, 384, dtype=torch.float64)
    padded[64 : 64 + 160] = a.double()
    begins = [k // 2 * 64 for k in range(6)] if halves else starts.tolist()
    exact = sum(padded[64 + s : 128 + s, 64 * k : 64 * k + 64] @ b.double()[64 * k : 64 * k + 64] for k, s in enumerate(begins))
    torch.testing.assert_close(y.double(), exact.to(device), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("kernel", [by_descriptors, by_pointers], ids=lambda kernel: kernel.__name__)
def test_begins(device, kernel):
    a, b = torch.randn(64, 64).half(), torch.randn(256, 64).half()
    starts, y = torch.tensor([3, 64, 230, 0, -5, 300], dtype=torch.int32), torch.zeros(64, 64, device=device)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*crashed")  # and was compiled in another way
        kernel[(1,)](a.to(device), b.to(device), starts.to(device), y, 256, len(starts))
    padded = torch.zeros(64 + 256 + 128, 64, dtype=torch.float64)
    padded[64 : 64 + 256] = b.double()
    exact = sum(a.double() @ padded[64 + s : 128 + s] for s in starts.tolist())
    torch.testing.assert_close(y.double(), exact.to(device), rtol=1e-4, atol=1e-3)
