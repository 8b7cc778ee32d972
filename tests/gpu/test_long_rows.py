"""Rows of more elements than a block holds: a cluster shares them, where results of each element wait for all of the row."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

ROWS = compat.load(Path(__file__).parents[2] / "examples" / "tileon" / "rows.py")
SPELLINGS = compat.load(Path(__file__).with_name("row_spellings.py"))
PROGRAMS = ["softmax", "in place", "layer norm", "rms norm", "sums", "place of largest"]


def launch(program, x):
    """The kernel, its result and what it should be in float64."""
    rows, n = x.shape
    exact, out = x.double(), torch.empty_like(x)
    w, b = torch.randn(n, device=x.device).to(x.dtype), torch.randn(n, device=x.device).to(x.dtype)
    strides, block = (x.stride(0), x.stride(0)), {"BLOCK": ROWS.block(n)}
    if program == "softmax":
        return ROWS.softmax_kernel[(rows,)](out, x, *strides, n, **block), out, exact.softmax(1)
    if program == "in place":
        return ROWS.softmax_kernel[(rows,)](x, x, *strides, n, **block), x, exact.softmax(1)
    if program == "layer norm":
        expected = torch.nn.functional.layer_norm(exact, (n,), w.double(), b.double(), 1e-5)
        return ROWS.layer_norm_kernel[(rows,)](out, x, w, b, *strides, n, 1e-5, **block), out, expected
    if program == "rms norm":
        expected = exact * (exact.square().mean(1, keepdim=True) + 1e-5).rsqrt() * w.double()
        return ROWS.rms_norm_kernel[(rows,)](out, x, w, *strides, n, 1e-5, **block), out, expected
    if program == "sums":
        sums, largest = (torch.empty(rows, device=x.device) for _ in range(2))
        kernel = SPELLINGS.sum_and_largest[(rows,)](x, sums, largest, x.stride(0), n, **block)
        return kernel, torch.stack((sums, largest)), torch.stack((exact.sum(1), exact.amax(1)))
    places = torch.empty(rows, device=x.device, dtype=torch.int32)
    return SPELLINGS.place_in_row[(rows,)](x, places, x.stride(0), n, **block), places, exact.argmax(1)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "f32"])
def test_is_shared(program, dtype, assemble):
    waits = dtype == torch.float32 or "norm" in program  # for memory
    alone = 131072 if program in ("sums", "place of largest") else 32768 if waits else 65536
    for n in (32768, 50000, 131072):
        blocks = 0 if n <= alone else n // 16384 if n > 65536 else 4
        kernel = launch(program, torch.randn(1, n).to(dtype))[0]
        compiled = _native.compile(kernel.module, disjoint=program != "in place", texts=True, target="sm_90a")
        assert (f"in each of {blocks} blocks" in compiled.plan) == bool(blocks)
        assert ("barrier.cluster" in compiled.asm) == bool(blocks)
        assert "ptxas" not in assemble(compiled.asm, "sm_90a").partition("error")[1]
        older = _native.compile(kernel.module, disjoint=program != "in place", texts=True, target="sm_80")
        assert "in each of" not in older.plan


def allowed(program, x, result, expected):
    """Softmax and the norms divide by sums of numbers that are not negative, in 64 chains or more (docs/reference/ir.md): each of
    n/64 + 6 additions loses 2^-24 of the sum at most, exponentials (of up to 16) and what follows 32 times that. A mean's
    loss counts by the sum of |x|. Sums of either sign lose by chance: 131072 steps in chains of 2048 normal numbers 4e-4 in the
    mean square."""
    rounding = 2.0**-8 if result.dtype == torch.bfloat16 else 0.0
    chance = 1e-3 + (rounding or 1e-4) * expected.abs().double()
    if program in ("sums", "place of largest"):
        return chance
    size, exact = expected.abs(), x.double()
    if program == "layer norm":
        size = size + 6 * (1 + exact.abs().mean(1, keepdim=True) / exact.std(1, keepdim=True) + exact.abs())  # |w|, |b| < 6
    return torch.minimum(chance, (x.shape[1] / 64 + 6 + 32) * 2.0**-24 * size + rounding * expected.abs())


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "f32"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_against_float64(program, dtype, device):
    for n in (50000, 65521, 131072):
        x = torch.randn(3 if device == "cpu" else 200, n, device=device).to(dtype)
        for row in x:  # one largest number, in some block
            row[torch.randint(n, ()).item()] = 9
        before = x.clone()
        _, result, expected = launch(program, x)
        assert ((result.double() - expected).abs() <= allowed(program, before, result, expected)).all()
