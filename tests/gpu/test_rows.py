"""Loops over rows and pieces of rows: whatever the spelling, their tiles are copied ahead, and the results are right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).with_name("row_spellings.py"))
ROWS, N, BLOCK = 19, 3024, 1024




def launches(device):
    """name -> a launch that returns (kernel, result, what it should be in float64)."""
    x, y, rows = torch.randn(ROWS, N, device=device), torch.randn(N, device=device), torch.randn(ROWS, device=device)
    out, wide, places = torch.empty(ROWS, device=device), torch.empty_like(x), torch.empty(ROWS, device=device, dtype=torch.int32)
    other = torch.randn_like(x)
    exact, grid, few = x.double(), (ROWS,), (3,)
    halves = torch.zeros(ROWS, device=device, dtype=torch.float64)
    for piece in reversed(exact.split(BLOCK, dim=1)):
        halves = 0.5 * halves + piece.sum(1)
    pieces = torch.nn.functional.pad(exact, (0, -N % BLOCK), value=2.0).unflatten(1, (-1, BLOCK))
    later = torch.zeros_like(pieces)
    for i in reversed(range(pieces.shape[1])):
        later[:, i] = pieces[:, i].sum(1, keepdim=True) + (0.5 * later[:, i + 1] if i + 1 < pieces.shape[1] else 0.0)

    def launch(name, grid, *args):
        return getattr(PROGRAMS, name)[grid](*args, BLOCK=4096 if name == "dealt_rows" else BLOCK, num_warps=8)

    return {
        "moving_pointer": lambda: (launch("moving_pointer", grid, x, out, N, N), out, exact.sum(1)),
        "counted_pieces": lambda: (launch("counted_pieces", grid, x, out, N, N), out, exact.amax(1)),
        "place_of_largest": lambda: (launch("place_of_largest", grid, x, places, N, N), places, exact.argmax(1)),
        "welford": lambda: (launch("welford", grid, x, out, N, N), out, exact.var(1, correction=0)),
        "two_inputs": lambda: (launch("two_inputs", grid, x, y, out, N, N), out, exact @ y.double()),
        "backwards": lambda: (launch("backwards", grid, x, out, N, N), out, halves),
        "by_block_pointer": lambda: (launch("by_block_pointer", grid, x, out, ROWS, N, N), out, exact.sum(1)),
        "dealt_rows": lambda: (
            launch("dealt_rows", few, x, rows, wide, ROWS, N, N),
            wide,
            exact * rows.double()[:, None] - exact.mean(1, keepdim=True),
        ),
        "nested": lambda: (launch("nested", few, x, out, ROWS, N, N), out, exact.sum(1)),
        "in_place": lambda: (
            launch("in_place", grid, x, N, N, 7),
            x,
            torch.where(x == 0, 0, exact / exact.square().sum(1, keepdim=True).sqrt()),
        ),
        "twice_by_pointers": lambda: (
            launch("twice_by_pointers", grid, x, wide, N, N),
            wide,
            exact - exact.sum(1, keepdim=True),
        ),
        "twice_by_block_pointers": lambda: (
            launch("twice_by_block_pointers", grid, x, wide, N, N),
            wide,
            exact - exact.sum(1, keepdim=True),
        ),
        "two_rows_twice": lambda: (
            launch("two_rows_twice", grid, x, other, wide, N, N),
            wide,
            other.double() - (exact * other.double()).sum(1, keepdim=True) * exact,
        ),
        "twice_backwards": lambda: (
            launch("twice_backwards", grid, x, wide, N, N),
            wide,
            (pieces - pieces.sum((1, 2), keepdim=True) + later).flatten(1)[:, :N],
        ),
        "whole_rows_backwards": lambda: (
            launch("whole_rows_backwards", grid, x, N, N),
            x,
            exact - exact.mean(1, keepdim=True),
        ),
        "three_passes": lambda: (
            launch("three_passes", grid, x, y, wide, N, N),
            wide,
            (exact - exact.mean(1, keepdim=True)) * exact.var(1, correction=0, keepdim=True).rsqrt() * y.double(),
        ),
    }


NAMES = sorted(launches("cpu"))
# The same rows in a second loop.
TWICE = {
    *("in_place", "twice_by_pointers", "twice_by_block_pointers", "two_rows_twice", "three_passes"),
    *("twice_backwards", "whole_rows_backwards"),
}


@pytest.mark.parametrize("name", NAMES)
def test_is_copied_ahead(name, assemble):
    kernel = launches("cpu")[name]()[0]
    compiled = _native.compile(kernel.module, disjoint=True, texts=True, target="sm_90a")
    assert ("begins with what the loop before has kept" in compiled.plan) == (name in TWICE)
    assert name in TWICE or "bytes ahead" in compiled.plan
    assert "cp.async.cg" in compiled.asm
    assert "0 bytes spill stores" in assemble(compiled.asm, "sm_90a")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_against_float64(name, device):
    kernel, result, expected = launches(device)[name]()
    torch.testing.assert_close(result.double(), expected.double(), rtol=1e-4, atol=1e-4)
    if name == "in_place":
        assert 0.2 < (result == 0).float().mean() < 0.3
