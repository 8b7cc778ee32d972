"""Products with other rows than those beside them, whose columns warpgroups share: they take Hopper's path and are right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "shared_columns_programs.py")


def gradients(device, length, dim, dim_v, block, step, dtype, kind):
    """Checked; the kernel's module."""

    def few(width):  # numbers whose sums are exact, in bfloat16, too
        return torch.randint(-1, 2, (length, width), device=device) * torch.randint(0, 2, (length, width), device=device)

    q, k, v, do = few(dim), few(dim), few(dim_v), few(dim_v)
    blocks = -(-length // block)
    dq = torch.full((blocks, length, dim), float("nan"), device=device)
    dq = dq if kind == "stores" else torch.zeros_like(dq[:1])
    dk, dv = (torch.full((length, d), float("nan"), device=device) for d in (dim, dim_v))
    kernel = PROGRAMS.gradients(length, dim, dim_v, block, step, dtype, kind)
    kernel(*(x.to(getattr(torch, dtype)) for x in (q, k, v, do)), dq, dk, dv)
    q, k, v, do = (x.double() for x in (q, k, v, do))
    s = k @ q.T
    ds = s - v @ do.T
    assert max(s.abs().max(), ds.abs().max()) <= 256
    assert (dv == s @ do).all()
    assert (dk == ds @ q).all()
    if kind != "stores":
        assert (dq[0] == ds.T @ k).all()
    for b in range(blocks if kind == "stores" else 0):
        own = slice(b * block, (b + 1) * block)
        assert (dq[b] == ds[own].T @ k[own]).all()
    return kernel._latest().module


SHAPES = (
    (256, 192, 128, 128, 32, "float16", "elements"),  # dq turned: 192 rows, of which two warpgroups have no halves
    (256, 192, 128, 128, 32, "bfloat16", "tiles"),
    (256, 192, 64, 128, 32, "float16", "stores"),
    (200, 192, 64, 128, 32, "bfloat16", "elements"),  # ragged ends
    (200, 192, 64, 128, 32, "float16", "tiles"),
    (256, 192, 64, 128, 16, "float16", "elements"),  # halves of 8 columns
    (256, 96, 64, 128, 32, "float16", "elements"),  # turned with 128 rows
    (200, 96, 64, 128, 32, "bfloat16", "tiles"),
    (256, 96, 64, 128, 32, "bfloat16", "stores"),
    (256, 160, 64, 128, 32, "float16", "elements"),  # with 192
    (200, 160, 64, 128, 32, "bfloat16", "stores"),
    (192, 112, 64, 128, 32, "float16", "elements"),
    (256, 96, 64, 128, 64, "float16", "elements"),  # 64 rows as they are: halves of each 64 bytes of the second factor's rows
    (200, 96, 64, 128, 64, "bfloat16", "stores"),
    (200, 160, 64, 128, 64, "float16", "tiles"),
)
OTHERS = (
    (192, 192, 64, 64, 32, "float16", "stores"),  # three warpgroups would share all
    (200, 320, 64, 64, 32, "float16", "elements"),  # more rows than a product may have, turned
    (200, 320, 64, 64, 32, "bfloat16", "tiles"),
)
CASES = {" ".join(map(str, shape)): lambda device, shape=shape: gradients(device, *shape) for shape in SHAPES + OTHERS}


@pytest.mark.parametrize("case", list(CASES)[: len(SHAPES)])
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(CASES[case]("cpu"))


def test_places_of_what_is_added_are_in_no_registers_between_steps():
    """A step reads the thread's number at its beginning, and before it shows a factor; else the loop keeps what comes of it."""
    module = CASES["256 192 128 128 32 float16 elements"]("cpu")
    asm = _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm
    step = asm[asm.index("wgmma.mma_async") : asm.rindex("wgmma.mma_async")]
    assert step.count("%tid.x") == 2


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
