"""Tiles of products that threads add to memory: neighbours by one instruction where they lie so, and all of them once."""

from pathlib import Path

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "update_programs.py")
TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def scattered(device, first, columns, wide, dtype, turned=False, group=64):
    """Checked; the kernel's module."""
    steps, rows, depth = 4, 50, 64

    def few(*shape):  # small numbers, whose sums are exact
        return torch.randint(-1, 2, shape, device=device) * torch.randint(0, 2, shape, device=device)

    a, b = few(steps, group, depth), few(depth, wide)
    if dtype == "bfloat16":  # has few bits
        a *= (torch.arange(depth, device=device) < 8)[None, None]
    named = torch.randint(-1, rows, (steps, group), dtype=torch.int32, device=device)
    c = torch.zeros(rows, first + columns, dtype=TYPES[dtype], device=device)
    kernel = PROGRAMS.scattered(steps, rows, columns, first, wide, depth, dtype, turned, group)
    kernel(a.half(), b.half(), named, c)
    added = (a.double() @ b.double())[..., :columns].reshape(-1, columns)
    exact = torch.zeros(rows + 1, columns, dtype=torch.float64, device=device)
    exact.index_add_(0, named.flatten().long() % (rows + 1), added)
    assert (c[:, first:].double() == exact[:rows]).all()
    assert (c[:, :first] == 0).all()
    return kernel._latest().module


SHAPES = (  # first, columns, wide, type; turned, rows
    (0, 128, 128, "float32"),
    (4, 128, 128, "float32"),
    (1, 127, 128, "float32"),  # rows begin anywhere
    (0, 122, 128, "float32"),  # the last neighbours are apart
    (0, 63, 64, "float32"),
    (0, 128, 128, "float16"),
    (0, 126, 128, "float16"),
    (3, 64, 64, "float16"),
    (0, 128, 128, "bfloat16"),
    (2, 96, 128, "bfloat16"),
    (0, 64, 64, "float16", True),
    (0, 128, 128, "float32", True, 16),
)
CASES = {" ".join(map(str, shape)): lambda device, shape=shape: scattered(device, *shape) for shape in SHAPES}


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")


@pytest.mark.parametrize(
    "shape, instruction, times",
    [
        ((0, 128, 128, "float32"), "red.relaxed.gpu.global.add.v2.f32", 32),
        ((0, 128, 128, "float16"), "red.relaxed.gpu.global.add.noftz.f16x2", 32),
        ((0, 128, 128, "bfloat16"), "red.relaxed.gpu.global.add.noftz.bf16x2", 32),
    ],
)
def test_neighbours_are_added_together(shape, instruction, times, goes_through_blocks):
    module = scattered("cpu", *shape)
    goes_through_blocks(module)
    asm = _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm
    assert asm.count(instruction) == times and "atom." not in asm


def test_others_are_added_one_by_one(goes_through_blocks):
    module = scattered("cpu", 1, 127, 128, "float32")
    goes_through_blocks(module)
    asm = _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm
    assert "red." not in asm and "atom.global.gpu.relaxed.add.f32" in asm


@tileon.jit
def add_rows(x, named, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr, SEM: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    there = (rows < n)[:, None] & (columns < WIDTH)[None, :]
    to = tl.load(named + rows, mask=rows < n, other=0)
    values = tl.load(x + rows[:, None] * WIDTH + columns[None, :], mask=there, other=0)
    tl.atomic_add(out + to[:, None] * WIDTH + columns[None, :], values, mask=there, sem=SEM)


def add_to_rows(device, dtype, rows, columns, width, sem):
    """A kernel without products; what it compiled."""
    n, groups = 100, 7
    x = torch.randint(-2, 3, (n, width), device=device).to(dtype)
    named = torch.randint(0, groups, (n,), dtype=torch.int32, device=device)
    out = torch.zeros(groups, width, dtype=dtype, device=device)
    kernel = add_rows[(-(-n // rows),)](x, named, out, n, rows, columns, width, sem)
    exact = torch.zeros(groups, width, dtype=torch.float64, device=device).index_add_(0, named.long(), x.double())
    assert (out.double() == exact).all()
    return kernel


WITHOUT_PRODUCTS = [
    *((dtype, 16, 64, 64, sem) for dtype in (torch.float32, torch.float16, torch.int32) for sem in ("relaxed", "acq_rel")),
    (torch.float32, 16, 64, 62, "relaxed"),  # the last neighbours are apart
    (torch.float32, 16, 64, 61, "acq_rel"),  # rows begin anywhere
    (torch.bfloat16, 1, 64, 64, "relaxed"),  # more threads than elements
    (torch.float64, 8, 32, 32, "relaxed"),
]


@pytest.mark.gpu
@pytest.mark.parametrize("case", WITHOUT_PRODUCTS, ids=str)
def test_rows_are_added(case):
    add_to_rows("cuda", *case)


def test_rows_are_added_as_vectors():
    module = add_to_rows("cpu", *WITHOUT_PRODUCTS[0]).module
    asm = _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm
    assert "red.relaxed.gpu.global.add.v4.f32" in asm and "atom." not in asm


def test_old_values_that_nobody_reads_are_not_kept():
    module = add_to_rows("cpu", torch.int32, 16, 64, 64, "relaxed").module
    asm = _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm
    assert "atom.global" in asm and "st.shared" not in asm
