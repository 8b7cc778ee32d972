"""Sums of integers over rows that are compared with one table: a thread has whole rows."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def counts(x_ptr, table_ptr, out_ptr, n, ROWS: tl.constexpr, COUNT: tl.constexpr, WIDE: tl.constexpr):
    at = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    table = tl.load(table_ptr + tl.arange(0, COUNT))
    above = tl.reshape(x / tl.max(tl.abs(x), axis=0), (ROWS, 1)) > table
    if WIDE:
        tl.store(out_ptr + at, tl.sum(above.to(tl.int32) * tl.arange(0, COUNT)[None, :], axis=1), mask=at < n)
    else:
        tl.store(out_ptr + at, tl.sum(above.to(tl.uint8), axis=1), mask=at < n)


@tileon.jit
def most(x_ptr, table_ptr, out_ptr, n, ROWS: tl.constexpr, COUNT: tl.constexpr):
    """The largest of what each element is loaded for, which threads share."""
    at = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COUNT)
    values = tl.load(x_ptr + at[:, None] * COUNT + column[None, :], mask=at[:, None] < n, other=0)
    tl.store(out_ptr + at, tl.max(values + tl.load(table_ptr + column)[None, :], axis=1), mask=at < n)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    "rows, count, n", [(2048, 256, 4096), (2048, 256, 3001), (1024, 128, 1024), (4096, 64, 5000), (512, 512, 700)]
)
def test_counts(device, rows, count, n, wide):
    generator = torch.Generator("cpu").manual_seed(11)
    x = torch.randn(n, generator=generator, device="cpu")
    table = torch.sort(torch.rand(count, generator=generator, device="cpu") * 2 - 1).values
    out = torch.zeros(n, dtype=torch.int32 if wide else torch.uint8, device=device)
    counts[(-(-n // rows),)](x.to(device), table.to(device), out, n, rows, count, wide)
    for first in range(0, n, rows):
        own = x[first : first + rows]
        above = (own / own.abs().max())[:, None] > table
        wanted = (above * torch.arange(count, device="cpu")).sum(1) if wide else above.sum(1) % 256
        assert (out[first : first + rows].cpu().long() != wanted).sum() <= 2  # a quotient may be rounded across a threshold


@pytest.mark.parametrize("rows, count", [(1024, 256), (512, 512)])
def test_most(device, rows, count):
    n = rows + 100
    x = torch.randint(-1000, 1000, (n, count), generator=torch.Generator("cpu").manual_seed(1), device="cpu").int()
    table = torch.arange(count, device="cpu").int()
    out = torch.zeros(n, dtype=torch.int32, device=device)
    most[(2,)](x.to(device), table.to(device), out, n, rows, count)
    assert torch.equal(out.cpu(), (x + table).amax(1))
