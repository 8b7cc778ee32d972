"""Spellings of Triton that few programs use."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def advances(X, out, n, B: tl.constexpr):
    p = tl.make_block_ptr(X, (n,), (1,), (0,), (B,), (0,))
    total = tl.zeros((B,), tl.float32)
    for _ in range(0, n, B):
        total += tl.load(p, boundary_check=(0,))
        p = p.advance((B,))
    tl.store(out + tl.arange(0, B), total)


def test_advance_is_a_method_of_block_pointers(engine):
    x, out = torch.randn(40), torch.zeros(16)
    advances[(1,)](x, out, 40, B=16)
    torch.testing.assert_close(out, torch.nn.functional.pad(x, (0, 8)).view(3, 16).sum(0))


@tileon.jit
def annotates(X, out, n, B: tl.constexpr):
    count: tl.constexpr = n
    value: tl.constexpr = tl.load(X)
    width: tl.constexpr = 2 * B
    i = tl.arange(0, width)
    tl.store(out + i, value, mask=i < count)


def test_a_name_annotated_constexpr_holds_a_run_time_value(engine):
    x, out = torch.full((1,), 3.5), torch.zeros(16)
    annotates[(1,)](x, out, 5, B=8)
    assert out.tolist() == [3.5] * 5 + [0] * 11


@tileon.jit
def extremes(X, out, places, B: tl.constexpr, least: tl.constexpr):
    x = tl.load(X + tl.arange(0, B))
    if least:
        value, place = tl.min(x, 0, return_indices=True)
    else:
        value, place = tl.max(x, 0, return_indices=True)
    tl.static_assert(value.dtype == (tl.float32 if x.dtype == tl.bfloat16 else x.dtype))
    tl.static_assert(place.dtype == tl.int32)
    tl.static_assert(tl.max(x, 0).dtype.primitive_bitwidth >= 32)
    tl.store(out, value)
    tl.store(places, place)


NARROW = [torch.float16, torch.bfloat16, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.float8_e5m2]


@pytest.mark.parametrize("dtype", [*NARROW, torch.float32, torch.int64])
@pytest.mark.parametrize("least", [False, True])
def test_extremes_with_their_places_keep_their_type(engine, dtype, least):
    wide = torch.tensor([3, 7, 1, 7, 1, 5, 2, 6], dtype=torch.float32)
    x = (wide - (0 if dtype in (torch.uint8, torch.uint16) else 4)).to(dtype)
    out, place = torch.zeros(1, dtype=dtype), torch.zeros(1, dtype=torch.int32)
    extremes[(1,)](x, out, place, B=8, least=least)
    assert place.item() == (2 if least else 1) and out.float().item() == x[2 if least else 1].float().item()
