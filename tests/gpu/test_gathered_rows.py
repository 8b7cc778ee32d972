"""Attention over rows that a table names, in stages of one buffer: products take Hopper's path, whatever rows are left out."""

from pathlib import Path

import pytest
import torch
from language.attention import attention_with_bound

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "gathered_rows_programs.py")
HEADS, ROWS, TOPK = 64, 150, 192
COUNTS = (192, 131, 64, 1)  # of rows that each query sees; the others are -1


def attention(device, kind, dim, tail, depth, *form):
    """Checked; its kernel's module. `form`: how threads of a role gather."""
    queries = len(COUNTS)
    q = torch.randn(queries, HEADS, dim + tail, device=device).bfloat16()
    kv = torch.randn(ROWS, dim + tail, device=device).bfloat16()
    indices = torch.randint(0, ROWS, (queries, TOPK), dtype=torch.int32, device=device)
    seen = torch.ones(queries, TOPK, dtype=torch.bool, device=device)
    if kind != "all":
        for query, count in enumerate(COUNTS):
            seen[query] = torch.randperm(TOPK, device=device) < count
    indices[~seen] = -1
    out = torch.full((queries, HEADS, dim), float("nan"), dtype=torch.bfloat16, device=device)
    sizes = (queries, HEADS, ROWS, TOPK, dim, tail, depth)
    kernel = PROGRAMS.roles(*sizes, *form) if kind == "roles" else PROGRAMS.stages(*sizes, kind)
    kernel(q, kv, indices, out)
    rows = kv[indices.clamp(min=0).long()]
    exact, bound = attention_with_bound(q, rows, rows[..., :dim], block=64, scale=(dim + tail) ** -0.5, mask=seen[:, None])
    # Sums may be cut off, which is twice that.
    assert ((out.double() - exact).abs() <= 2 * bound).all()
    return kernel._latest().module


SHAPES = (  # kind, dim, tail, depth; of roles lanes a row, elements a lane, whether the index is kept outside
    ("all", 128, 64, 2),
    ("branch", 128, 64, 3),
    ("branch", 256, 32, 2),
    ("select", 128, 32, 1),
    ("rounds", 128, 64, 3),
    ("roles", 128, 64, 2, 8, 8, True),
    ("roles", 256, 64, 1, 8, 8, False),
    ("roles", 128, 32, 3, 4, 8, False),
    ("roles", 128, 64, 2, 16, 4, True),
    ("roles", 128, 64, 2, 32, 1, False),
)
TAKEN = {" ".join(map(str, shape)): lambda device, shape=shape: attention(device, *shape) for shape in SHAPES}
# What weighs rows that are not written by something else than zeros, as far as can be seen, reads them.
CASES = TAKEN | {"bias": lambda device: attention(device, "bias", 128, 64, 2)}


@pytest.mark.parametrize("case", TAKEN.values(), ids=TAKEN)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(case("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
