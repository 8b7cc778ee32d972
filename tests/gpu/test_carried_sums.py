"""Loops that add up sums of rows carry lanes, and add these up behind the loop; loops that do more with the sums do not."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).with_name("carried_sums_programs.py"))
ROWS = 12
on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
lengths = pytest.mark.parametrize("n, block", [(0, 512), (1, 512), (1000, 512), (4096, 1024), (300, 32), (2050, 64)])


def rows_of(n, dtype, device):
    """Rows that lie further apart than they are long; nobody may read what is between them."""
    if dtype.is_floating_point:
        whole = torch.full((ROWS, n + 24), float("nan"), device=device, dtype=dtype)
        whole[:, :n] = torch.randn(ROWS, n).to(device)
        return whole[:, :n], whole.stride(0)
    return torch.randint(-(2**31), 2**31 - 1, (ROWS, n + 24), device=device, dtype=dtype)[:, :n], n + 24


def turns_of(n, block):
    return -(-n // block)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
@lengths
@on_both
def test_sum_from_a_number(n, block, dtype, device):
    x, stride = rows_of(n, dtype, device)
    start = torch.arange(-3, ROWS - 3, device=device).to(dtype)
    out = torch.full((ROWS,), 7, device=device, dtype=dtype)
    PROGRAMS.sum_of_row[(ROWS,)](x, out, start, stride, n, turns_of(n, block), BLOCK=block)
    expected = x.sum(1, dtype=torch.float64 if dtype.is_floating_point else torch.int64) + start
    if dtype.is_floating_point:
        torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-4)
    else:  # what wraps is the same in any order
        assert torch.equal(out, expected.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@lengths
@on_both
def test_rows_times_a_vector(n, block, dtype, device):
    x, stride = rows_of(n, dtype, device)
    y = torch.randn(n, device=device).to(dtype)
    out = torch.full((ROWS,), float("nan"), device=device)
    PROGRAMS.rows_times_vector[(ROWS // 4,)](x, y, out, stride, n, turns_of(n, block), ROWS=4, BLOCK=block)
    torch.testing.assert_close(out.double(), x.double() @ y.double(), rtol=1e-5, atol=1e-4)


@lengths
@on_both
def test_two_sums(n, block, device):
    x, stride = rows_of(n, torch.float32, device)
    out = torch.full((ROWS, 2), float("nan"), device=device)
    PROGRAMS.sum_and_squares[(ROWS,)](x, out, stride, n, turns_of(n, block), BLOCK=block)
    expected = torch.stack([x.double().sum(1), x.double().square().sum(1) + 1], 1)
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("n, block", [(1000, 128), (4096, 1024)])
@on_both
def test_sums_that_are_looked_at(n, block, device):
    x, stride = rows_of(n, torch.float32, device)
    turns = turns_of(n, block)
    out = torch.full((ROWS, turns), float("nan"), device=device)
    PROGRAMS.running_sum[(ROWS,)](x, out, stride, n, turns, BLOCK=block)
    padded = torch.nn.functional.pad(x.double(), (0, turns * block - n)).unflatten(1, (turns, block))
    torch.testing.assert_close(out.double(), padded.sum(2).cumsum(1), rtol=1e-5, atol=1e-4)
    large = torch.zeros(ROWS, 41, block, device=device)
    large[:, 0, 3], large[:, 1:, 5] = 2.0**24, 0.75  # less than half of what the sum's neighbours are apart
    total = torch.empty(ROWS, device=device)
    PROGRAMS.compensated[(ROWS,)](large, total, 41 * block, 41 * block, 41, BLOCK=block)
    assert torch.equal(total, torch.full_like(total, 2**24 + 30))


@on_both
def test_zeros_keep_their_sign(device):
    """-0 is what nothing adds up to, also where no turn adds anything."""
    x, start, out = torch.full((1, 512), -0.0, device=device), torch.full((1,), -0.0, device=device), torch.ones(2, device=device)
    PROGRAMS.sum_of_row[(1,)](x, out, start, 512, 512, 1, BLOCK=512)
    PROGRAMS.sum_of_row[(1,)](x, out[1:], start, 512, 512, 0, BLOCK=512)
    assert torch.signbit(out).tolist() == [True, True]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_nobody_waits_in_the_loop(arch):
    x, stride = rows_of(4096, torch.float32, "cpu")
    y, out = torch.empty(4096), torch.empty(ROWS, 8)

    def in_loop(kernel):
        """Whether the loop's own nests reduce."""
        plan = _native.compile(kernel.module, disjoint=True, texts=True, target=arch).plan.split("\n")
        loop = next(i for i, line in enumerate(plan) if "scf.for" in line)
        behind = next(i for i, line in enumerate(plan) if i > loop and not line.startswith("    "))
        assert any("reduce" in line for line in plan)
        return any("reduce" in line for line in plan[loop:behind])

    assert not in_loop(PROGRAMS.sum_of_row[(ROWS,)](x, out[:, 0], out[:, 1], stride, 4096, 4, BLOCK=1024))
    assert not in_loop(PROGRAMS.rows_times_vector[(3,)](x, y, out, stride, 4096, 4, ROWS=4, BLOCK=1024))
    assert not in_loop(PROGRAMS.sum_and_squares[(ROWS,)](x, out, stride, 4096, 4, BLOCK=1024))
    assert in_loop(PROGRAMS.running_sum[(ROWS,)](x, out, stride, 4096, 4, BLOCK=1024))
    assert in_loop(PROGRAMS.compensated[(ROWS,)](x, out, stride, 4096, 4, BLOCK=1024))
