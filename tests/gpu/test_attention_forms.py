"""Attention to some of the keys on Hopper: it goes through block IR, and is right."""

from pathlib import Path

import pytest
import torch
from language.attention import attention_with_bound

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "attention_forms.py")
HEADS, D, BLOCKS = 2, 64, {"BLOCK_M": 128, "BLOCK_N": 64}


def tensors(n, device):
    q, k, v = (torch.randn(HEADS, n, D, device=device).half() for _ in range(3))
    return q, k, v, torch.full_like(q, float("nan"))


def check(q, k, v, out, seen):
    exact, bound = attention_with_bound(q, k, v, block=64, scale=D**-0.5, mask=seen)
    # The bound is for sums that round; tensor cores may cut off, which is twice that.
    assert ((out.double() - exact).abs() <= 2 * bound).all()


def windowed(device, n, window):
    q, k, v, out = tensors(n, device)
    grid = (-(-n // 128), HEADS)
    kernel = PROGRAMS.windowed[grid](q, k, v, out, D**-0.5, n * D, D, n, window, **BLOCKS, D=D, num_warps=8)
    at = torch.arange(n, device=device)
    before = at[:, None] - at
    check(q, k, v, out, (before >= 0) & (before < window))
    return kernel.module


def windowed_by_blocks(device, n, window):
    q, k, v, out = tensors(n, device)
    kernel = PROGRAMS.windowed_by_blocks(HEADS, n, D, window, *BLOCKS.values())
    kernel(q, k, v, out)
    at = torch.arange(n, device=device)
    before = at[:, None] - at
    check(q, k, v, out, (before >= 0) & (before < window))
    return kernel._latest().module


def named_blocks(device):
    n = 256
    q, k, v, out = tensors(n, device)
    rows = torch.tensor([0, 3, 5], dtype=torch.int32, device=device)
    columns = torch.tensor([2, 0, 3, 1, 2], dtype=torch.int32, device=device)
    kernel = PROGRAMS.named_blocks[(2, HEADS)](q, k, v, out, rows, columns, D**-0.5, n, **BLOCKS, D=D, num_warps=8)
    seen = torch.zeros(2, 4, dtype=torch.bool, device=device)
    for row, column in ((0, 2), (0, 0), (0, 3), (1, 1), (1, 2)):
        seen[row, column] = True
    check(q, k, v, out, seen.repeat_interleave(128, 0).repeat_interleave(64, 1))
    return kernel.module


CASES = {
    "window of 100": lambda device: windowed(device, 300, 100),
    "window of 1": lambda device: windowed(device, 256, 1),
    "window of 100, in blocks": lambda device: windowed_by_blocks(device, 300, 100),
    "window of 200, in blocks": lambda device: windowed_by_blocks(device, 256, 200),
    "named blocks": named_blocks,
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
