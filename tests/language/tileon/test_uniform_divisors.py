"""Tiles divided by one number that a launch brings, as places of flattened tensors are: against Python's integers."""

import pytest
import torch
from language import exact

from tilery import tileon
from tilery.tileon import language as tl

TYPES = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


@tileon.jit
def by_number(x_ptr, by_ptr, quotient_ptr, remainder_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    by = tl.load(by_ptr)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    tl.store(quotient_ptr + i, x // by, mask=i < n)
    tl.store(remainder_ptr + i, x % by, mask=i < n)


@tileon.jit
def by_column(x_ptr, by_ptr, out_ptr, n, stride, M: tl.constexpr, N: tl.constexpr):
    """Spelt as a tile of one column, rows apart; the divisor changes in a loop."""
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * stride + columns, mask=columns < n, other=0)
    total = tl.zeros((M, N), dtype=tl.int64)
    for k in range(3):
        by = tl.full((M, 1), 1, tl.int64) * tl.load(by_ptr + k)
        total = total * 31 + x // by + x % by
    tl.store(out_ptr + rows * stride + columns, total, mask=columns < n)


@tileon.jit
def places(out_ptr, a, b, c, n, WIDE: tl.constexpr, N: tl.constexpr):
    """What `view(n // (a b c), c, a, b)` of places has where `view(..., a, b, c)` has its own."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    if WIDE:
        i = i.to(tl.int64)
    rest = i % (a * b * c)
    block, row, column, last = i // (a * b * c), rest // (b * c), rest // c % b, i % c
    tl.store(out_ptr + i, block * (a * b * c) + last * (a * b) + row * b + column, mask=i < n)


def wanted_of(x, by):
    quotients = [abs(v) // abs(by) * (1 if (v < 0) == (by < 0) else -1) for v in x]
    return quotients, [v - q * by for v, q in zip(x, quotients)]


def numbers(dtype, count):
    """Of every size and sign, next to powers of two and to the limits among them."""
    least, most = exact.limits(dtype)
    edges = [least, least + 1, most, most - 1, 0, 1, 2, 3, most // 2, most // 3]
    edges += [v for k in range(1, 64) for v in (2**k - 1, 2**k, 2**k + 1, -(2**k)) if least <= v <= most]
    spread = [(i * 0x9E3779B97F4A7C15) % 2**64 >> (i % 61) for i in range(count)]
    spread = [v if i % 2 or least == 0 else -v for i, v in enumerate(spread)]
    return (edges + [exact.wrapped(dtype, v) for v in spread])[:count]


def divisors(dtype):
    least, most = exact.limits(dtype)
    found = [1, 2, 3, 7, 10, 64, 100, 127, 2**15 - 1, 2**16 + 1, 2**31 - 1, 2**32 - 1, 2**32, 2**32 + 1, 2**53 + 1, most]
    return sorted({v for v in found + [-v for v in found] + [least] if least <= v <= most and v})


@pytest.mark.parametrize("dtype", TYPES)
def test_every_size(device, dtype):
    """Ragged, so that the last program's tile is cut."""
    for by in divisors(dtype):
        count = 700
        x = numbers(dtype, count)
        of = torch.tensor(x, dtype=getattr(torch, dtype)).to(device)
        quotient, remainder = torch.full_like(of, 77, device=device), torch.full_like(of, 77, device=device)
        by_number[(3,)](of, torch.tensor([by], dtype=of.dtype).to(device), quotient, remainder, count, 256)
        quotients, rests = wanted_of(x, by)
        quotients = [exact.wrapped(dtype, q) for q in quotients]  # the least number by -1 is itself
        assert quotient.cpu().tolist() == quotients, by
        assert remainder.cpu().tolist() == rests, by


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("by", [(7, 2**33 + 1, 3), (1, 2**31 - 1, 1000), (2**40, 12, 5)])
def test_divisors_of_loops(device, by):
    rows, columns, stride = 16, 61, 70
    x = torch.tensor([(i * 0x9E3779B97F4A7C15) % 2**62 >> (i // 64 % 40) for i in range(rows * stride)], dtype=torch.int64)
    out = torch.full((rows * stride,), -7, dtype=torch.int64, device=device)
    by_column[(1,)](x.to(device), torch.tensor(by, device=device), out, columns, stride, rows, 64)
    total = torch.zeros_like(x, dtype=torch.int64)
    for d in by:
        total = total * 31 + x // d + x % d
    wanted = torch.full_like(total, -7).view(rows, stride)
    wanted[:, :columns] = total.view(rows, stride)[:, :columns]
    assert torch.equal(out.cpu(), wanted.flatten())


@pytest.mark.pairs
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("sizes", [(3, 5, 7), (4, 8, 16), (1, 1, 1), (13, 1, 64)])
@pytest.mark.parametrize("block", [64, 512, 1024])
def test_places(device, sizes, wide, block):
    a, b, c = sizes
    n = max(a * b * c * 5, 1200 // (a * b * c) * (a * b * c))
    out = torch.full((n,), -1, dtype=torch.int64, device=device)
    places[(-(-n // block),)](out, a, b, c, n, wide, block)
    i = torch.arange(n, device="cpu")
    rest = i % (a * b * c)
    wanted = i // (a * b * c) * (a * b * c) + i % c * (a * b) + rest // (b * c) * b + rest // c % b
    assert torch.equal(out.cpu(), wanted)
