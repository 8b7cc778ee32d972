"""Columns and rows that are remainders: where they stay below the divisor, neighbours are read side by side, else one by one."""

import re
from pathlib import Path

import pytest
import torch

from tilery import _native, compat

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
PROGRAMS = compat.load(Path(__file__).with_name("wrapped_columns_programs.py"))


def launch(device, rows, half, block_n, dtype, padding=0, block=8):
    """The kernel, its result and what that should be; what lies between rows is poisoned."""
    stride = 2 * half + padding
    x, out = (torch.full((rows, stride), float("nan"), device=device).to(dtype) for _ in range(2))
    x[:, : 2 * half] = torch.randint(-4, 5, (rows, 2 * half), device=device).to(dtype)
    cos, sin = (torch.randint(-4, 5, (rows, half), device=device).to(dtype) for _ in range(2))
    grid = (-(-rows // block) + 1,)  # a program without any row, too
    kernel = PROGRAMS.rotary[grid](x, cos, sin, out, rows, stride, HALF=half, BLOCK=block, BLOCK_N=block_n)
    a, b = x[:, :half].double(), x[:, half : 2 * half].double()
    exact = torch.cat([a * cos.double() - b * sin.double(), b * cos.double() + a * sin.double()], 1)
    return kernel, out, exact


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_reads_neighbours_at_once(arch, assemble):
    module = launch("cpu", 40, 64, 64, torch.bfloat16, block=16)[0].module
    code = _native.compile(module, disjoint=True, texts=True, target=arch).asm
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(code, arch)
    accesses = re.findall(r"(?:ld|st)\.global\S*", code)
    assert len(accesses) == 6 and all("v4.b32" in access for access in accesses), accesses


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("rows", [1, 7, 8, 37])
@pytest.mark.parametrize("half, block_n", [(64, 64), (32, 64), (48, 64), (1, 1), (3, 4)])
def test_rotary(half, block_n, rows, dtype):
    for padding in (0, 3, 16):
        _, out, exact = launch("cuda", rows, half, block_n, dtype, padding)
        assert torch.equal(out[:, : 2 * half].double(), exact), padding
        assert out[:, 2 * half :].isnan().all(), padding


def multiply(device, dtype, m, n, k, tile):
    a, b = (torch.randint(-4, 5, shape, device=device).to(dtype) for shape in ((m, k), (k, n)))
    c = torch.full((m, n), float("nan"), device=device)
    kernel = PROGRAMS.product[(-(-m // tile[0]), -(-n // tile[1]))](a, b, c, m, n, k, *tile)
    return kernel, c, a.double() @ b.double()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_lanes_share_places_of_one_factor_that_another_takes_elsewhere(dtype, goes_through_blocks):
    """Where columns begin anew is shown to all lanes for one factor; for the other each lane has another one."""
    goes_through_blocks(multiply("cpu", dtype, 70, 40, 33, (64, 32, 32))[0].module)


@on_both
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("m, n, k, tile", [(1, 1, 1, (16, 16, 16)), (70, 40, 33, (64, 32, 32)), (130, 136, 72, (128, 128, 64))])
def test_product(m, n, k, tile, dtype, device):
    _, c, exact = multiply(device, dtype, m, n, k, tile)
    assert torch.equal(c.double(), exact)
