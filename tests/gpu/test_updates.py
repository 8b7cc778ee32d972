"""Tiles of products that threads add to memory: neighbours by one instruction where they lie so, and all of them once."""

from pathlib import Path

import pytest
import torch

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
