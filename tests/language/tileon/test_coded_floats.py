"""8-bit floats that no arithmetic is made for: every code, and conversions at every number of float16, against ml_dtypes and
fractions."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget
from tilery.tileon.compiler import ASTSource, compile

OURS = {"e4b8": tl.float8e4b8, "e5b16": tl.float8e5b16, "e4b15": tl.float8e4b15}
THEIRS = {"e4b8": ml_dtypes.float8_e4m3fnuz, "e5b16": ml_dtypes.float8_e5m2fnuz}


def values(name):
    """What each code means."""
    codes = np.arange(256, dtype=np.uint8)
    if name in THEIRS:
        return codes.view(THEIRS[name]).astype(np.float64)
    size, sign = codes & 0x7F, np.where(codes & 0x80, -1.0, 1.0)
    exponent, mantissa = (size >> 3).astype(int), (size & 7) / 8
    return sign * np.where(exponent, (1 + mantissa) * 2.0 ** (exponent - 15), mantissa * 2.0**-14)


@tileon.jit
def decode(codes_ptr, values_ptr, again_ptr, sums_ptr, N: tl.constexpr, KIND: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(codes_ptr + at).to(KIND, bitcast=True)
    tl.static_assert(x.dtype == KIND)
    tl.store(values_ptr + at, x.to(tl.float32))
    tl.store(again_ptr + at, x.to(tl.uint8, bitcast=True))
    tl.store(sums_ptr + at, x.to(tl.float32) + x)


@pytest.mark.parametrize("name", OURS)
def test_codes(engine, device, name):
    codes = torch.arange(256, dtype=torch.int32).to(torch.uint8)
    got, again, sums = torch.empty(256), torch.empty(256, dtype=torch.uint8), torch.empty(256)
    decode[(1,)](codes, got, again, sums, 256, OURS[name])
    np.testing.assert_array_equal(got.cpu().double().numpy(), values(name))
    np.testing.assert_array_equal(sums.cpu().double().numpy(), 2 * values(name))
    assert torch.equal(again, codes)


@tileon.jit
def encode(x_ptr, codes_ptr, N: tl.constexpr, KIND: tl.constexpr, ROUNDING: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at).to(KIND, fp_downcast_rounding=ROUNDING)
    tl.store(codes_ptr + at, x.to(tl.uint8, bitcast=True))


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("name", OURS)
def test_conversions(engine, device, name, rounding):
    x = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16)
    codes = torch.empty(65536, dtype=torch.uint8)
    encode[(64,)](x, codes, 1024, OURS[name], rounding)
    meaning, given = values(name), x.cpu().double().numpy()
    got = meaning[codes.cpu().numpy()]
    largest = np.nanmax(meaning)
    bounded = np.clip(given, -largest, largest)
    assert (np.isnan(got) == (np.isnan(given) & (name in THEIRS))).all()
    numbers = np.unique(meaning[np.isfinite(meaning)])
    for k in np.flatnonzero(np.isfinite(bounded)):
        below = numbers[np.searchsorted(numbers, bounded[k], "right") - 1]
        above = numbers[np.searchsorted(numbers, bounded[k], "left")]
        if rounding == "rtz":
            assert got[k] == (below if bounded[k] >= 0 else above), (given[k], got[k])
        else:
            low, high = Fraction(bounded[k]) - Fraction(below), Fraction(above) - Fraction(bounded[k])
            assert got[k] in ((below, above) if low == high else (below,) if low < high else (above,)), (given[k], got[k])
    if name in THEIRS and rounding == "rtne":  # ties
        np.testing.assert_array_equal(got, bounded.astype(np.float32).astype(THEIRS[name]).astype(np.float64))


@tileon.jit
def zeros(o_ptr, KIND: tl.constexpr):
    a = tl.full((16, 16), 0.5, KIND)
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(o_ptr + at, tl.dot(a, a))


@pytest.mark.parametrize("name", OURS)
def test_products_take_them_as_their_values(device, name):
    got = torch.empty(16, 16)
    zeros[(1,)](got, OURS[name])
    assert (got == 4.0).all()


@tileon.jit
def half_of(p, at, mask):
    return tl.load(p + at, mask=mask, other=1.5).to(tl.float32) / 2


@tileon.jit
def through_pointers(x_ptr, o_ptr, half_ptr, n, N: tl.constexpr):
    tl.static_assert(x_ptr.dtype.element_ty == o_ptr.type.element_ty)
    at = tl.arange(0, N)
    tl.store(half_ptr + at, half_of(x_ptr, at, at < n - 1))
    source, target = x_ptr + at[None, :], o_ptr + at[None, :]
    for _ in range(0, n, N):
        tl.store(target, tl.load(source, mask=at[None, :] < n).to(tl.float32))
        source += N
        target = target + N


@pytest.mark.parametrize("name", OURS)
def test_pointers(device, name):
    """Arguments that are seen as such a type: read and written by its values, in loops and helpers."""
    codes = torch.arange(256, dtype=torch.int32).to(torch.uint8)
    if name in THEIRS:
        codes[128] = 0  # its one NaN
    again, half = torch.zeros(256, dtype=torch.uint8), torch.empty(64)
    x, o = (tileon.reinterpret(t, OURS[name]) for t in (codes, again))
    through_pointers[(1,)](x, o, half, 256, 64)
    assert torch.equal(again, codes)
    meaning = torch.tensor(values(name), device="cpu")[codes.cpu().long()]
    np.testing.assert_array_equal(half.cpu().double().numpy(), meaning[:64].numpy() / 2)
    through_pointers[(1,)](x, o, half, 33, 64)
    np.testing.assert_array_equal(half.cpu().double().numpy(), np.where(np.arange(64) < 32, meaning[:64].numpy() / 2, 0.75))


@pytest.mark.parametrize("name", OURS)
def test_addresses_of_bytes_as_pointers(device, name):
    @tileon.jit
    def kernel(p, o, KIND: tl.constexpr):
        q = p.to(tl.pointer_type(KIND))
        at = tl.arange(0, 16)
        tl.store(o + at, tl.load(q + at).to(tl.float32))
        tl.store(q, 1.5)

    codes, got = torch.arange(16, dtype=torch.uint8), torch.empty(16)
    kernel[(1,)](codes, got, OURS[name])
    np.testing.assert_array_equal(got.cpu().double().numpy(), values(name)[:16])
    assert values(name)[codes[0].item()] == 1.5


def test_kinds_of_calls_with_such_pointers(device):
    @tileon.jit
    def kernel(x, o):
        tl.store(o, tl.load(x).to(tl.float32))

    source = ASTSource(kernel, {"x": "*fp8e4b8", "o": "*fp32"})
    target = GPUTarget("cpu", "", 1) if device == "cpu" else tileon.runtime.driver.active.get_current_target()
    got, codes = torch.zeros(1), torch.full((1,), 0x41, dtype=torch.uint8)
    compile(source, target)[(1,)](tileon.reinterpret(codes, tl.float8e4b8), got)
    assert got.item() == values("e4b8")[0x41]
    assert kernel[(1,)](tileon.reinterpret(codes, torch.float8_e4m3fnuz), got).name == "kernel"


@tileon.jit
def halve(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.static_assert(x.dtype == x_ptr.dtype.element_ty)
    tl.store(o_ptr + at, (x.to(tl.float32) / 2).to(o_ptr.dtype.element_ty), mask=at < n)


@tileon.jit
def of_pair(pair, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(pair[0] + at, mask=at < n, other=0.0), tl.load(pair[1] + at, mask=at < n, other=0.0)
    tl.store(o_ptr + at, x.to(tl.float32) + y.to(tl.float32), mask=at < n)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fnuz, torch.float8_e5m2fnuz])
def test_tensors_of_these_types(device, dtype):
    """Tensors of torch as they are; between launches of the same kernel with other types, and in tuples."""
    x = torch.randn(300) * 20
    coded = x.to(dtype)
    for source, result in ((coded, coded), (x, coded), (coded, x), (x, x), (coded, coded)):
        got = torch.empty_like(result)
        halve[(3,)](source, got, 300, 128)
        assert torch.equal(got.float(), (source.float() / 2).to(result.dtype).float())
    for pair in ((coded, x), (x, x), (coded, coded), (x, coded)):
        got = torch.empty(300)
        of_pair[(1,)](pair, got, 300, 512)
        assert torch.equal(got, pair[0].float() + pair[1].float())


@tileon.jit
def through_an_address(codes_ptr, to_ptr, ROUNDING: tl.constexpr):
    at = codes_ptr.to(tl.pointer_type(tl.float8e4b15)).to(tl.uint64, fp_downcast_rounding=ROUNDING, bitcast=True)
    tl.store(to_ptr, tl.load(at.to(tl.pointer_type(tl.uint8))))


def test_options_of_an_address_are_those_of_a_number(device):
    codes, out = torch.full((1,), 77, dtype=torch.uint8), torch.zeros(1, dtype=torch.uint8)
    through_an_address[(1,)](codes, out, "rtz")
    assert out.item() == 77
    with pytest.raises(ValueError, match="fp_downcast_rounding must be 'rtne' or 'rtz', got 'up'"):
        through_an_address[(1,)](codes, out, "up")
