"""Loops of products whose steps each keep a line of a buffer: they take Hopper's path and are right."""

from pathlib import Path

import pytest
import torch

from tilery import compat

PROGRAMS = compat.load(Path(__file__).parent / "stored_lines_programs.py")


def maxima(device, rows, length, dim, step, steps, dtype, kind):
    """Checked; the kernel's module."""

    def few(n):  # numbers whose sums are exact
        return torch.randint(-1, 2, (n, dim), device=device) * torch.randint(0, 2, (n, dim), device=device)

    q, k, v = few(rows), few(length), few(length)
    out, kept = (torch.full((rows, n), float("nan"), device=device) for n in (dim, steps))
    kernel = PROGRAMS.maxima(rows, length, dim, step, steps, dtype, kind)
    kernel(*(x.to(getattr(torch, dtype)) for x in (q, k, v)), out, kept)
    s = q.double() @ k.double().T
    assert s.abs().max() <= 256
    assert (out == s @ v.double()).all()
    padded = torch.nn.functional.pad(s, (0, -length % step))  # keys that are not there are 0
    most = padded.view(rows, -1, step).amax(2)
    exact = torch.zeros(rows, steps, dtype=torch.float64, device=device)
    exact[:, : most.shape[1]] = most[:, :steps]
    assert (kept == exact - most.amax(1, keepdim=True)).all()
    return kernel._latest().module


SHAPES = (
    (64, 512, 64, 128, 4, "float16", "columns"),
    (70, 450, 128, 128, 8, "bfloat16", "columns"),  # ragged, and columns that no step stores
    (128, 512, 64, 64, 4, "float16", "columns"),  # more steps than columns: what they store is nowhere
    (64, 1000, 64, 32, 32, "bfloat16", "columns"),
    (128, 512, 64, 128, 4, "float16", "rows"),
    (70, 450, 128, 64, 8, "bfloat16", "rows"),
)
CASES = {" ".join(map(str, shape)): lambda device, shape=shape: maxima(device, *shape) for shape in SHAPES}
TAKEN = [" ".join(map(str, shape)) for shape in SHAPES if shape[-1] == "columns"]


@pytest.mark.parametrize("case", TAKEN)
def test_takes_the_path(case, goes_through_blocks):
    goes_through_blocks(CASES[case]("cpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_is_right(case):
    case("cuda")
