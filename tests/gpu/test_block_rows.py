"""Gradients over selected blocks of keys, with tiles of few rows: they take Hopper's path and are right."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "block_rows_programs.py")


def gradients(device, length, heads, group, dim, block, kind, known, share=0.3):
    """Checked; the kernel's module. `known`: the length, when the kernel is made; `share`: of the blocks that a query selects."""
    blocks = -(-length // block)

    def few(*shape):  # small numbers, whose sums are exact
        return torch.randint(-1, 2, shape, device=device) * torch.randint(0, 2, shape, device=device)

    q, do = few(length, heads * group, dim), few(length, heads * group, dim)
    k, v = few(length, heads, dim), few(length, heads, dim)
    selected = (torch.rand(length, heads, blocks, device=device) < share).int()
    dq = torch.zeros(length, heads * group, dim, device=device)
    dk, dv = (torch.full((length, heads, dim), float("nan"), device=device) for _ in range(2))
    kernel = PROGRAMS.gradients(length if known else 0, heads, group, dim, block, kind)
    kernel(*(x.half() for x in (q, k, v, do)), selected, dq, dk, dv)

    q, do = (x.view(length, heads, group, dim).double() for x in (q, do))
    k, v = k.double(), v.double()
    rows = torch.arange(length, device=device)
    taken = selected.bool()[:, :, rows // block] & (rows[:, None] >= rows)[:, None]  # of query, head, key
    s = torch.einsum("ihgd,jhd->ihgj", q, k) * taken[:, :, None]
    ds = s * torch.einsum("ihgd,jhd->ihgj", do, v)
    assert ds.abs().max() <= 2048
    assert (dv == torch.einsum("ihgj,ihgd->jhd", s, do)).all()
    assert (dk == torch.einsum("ihgj,ihgd->jhd", ds, q)).all()
    assert (dq == torch.einsum("ihgj,jhd->ihgd", ds, k).reshape(dq.shape)).all()
    return kernel._latest().module


SHAPES = (
    (96, 2, 16, 128, 32, "causal", True),
    (96, 2, 16, 64, 32, "all", False),
    (70, 2, 16, 64, 32, "causal", False),  # the last block is a part: another image
    (96, 1, 16, 64, 48, "causal", False),
    (192, 2, 16, 64, 32, "all", True, 0.03),  # selected blocks are far apart, or there is none
    (100, 2, 8, 64, 32, "causal", True),
    (64, 3, 32, 64, 16, "causal", False),
)
CASES = {" ".join(map(str, shape)): lambda device, shape=shape: gradients(device, *shape) for shape in SHAPES}
TAKEN = [" ".join(map(str, SHAPES[i])) for i in (0, 1, 2, 3)]


@pytest.mark.parametrize("case", TAKEN)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(CASES[case]("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
