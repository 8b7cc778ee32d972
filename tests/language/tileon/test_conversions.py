"""Every conversion between types against Python's fractions: passes, oracle and machine code could share a mistake."""

import functools
import math

import numpy as np
import pytest
import torch
from language import exact

from tilery import tileon
from tilery.tileon import language as tl

N = 1024
NAMES = {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "bool": "int1"}
TARGETS = [*exact.TYPES, "bool"]


@tileon.jit
def convert(x, y, n: tl.constexpr, to: tl.constexpr, rounding: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i).to(to, fp_downcast_rounding=rounding))


@functools.lru_cache(maxsize=None)
def operand(dtype):
    return exact.operand(dtype, N, seed=exact.TYPES.index(dtype))


def result(source, target, values, rounding=None):
    x, y = exact.tensor(values, source), torch.full((len(values),), 1, dtype=torch.uint8).to(getattr(torch, target))
    convert[(1,)](x, y, len(values), getattr(tl, NAMES.get(target, target)), rounding)
    return exact.values(y)


def same(got, want):
    if isinstance(want, float):
        return math.isnan(got) if math.isnan(want) else got == want and math.copysign(1, got) == math.copysign(1, want)
    return got == want


def check(source, target, values, wanted, rounding=None):
    wrong = [
        f"{value} -> {got}, not {want}"
        for value, got, want in zip(values, result(source, target, values, rounding), wanted)
        if want is not None and not same(got, want)
    ]
    assert not wrong, f"{len(wrong)} of {len(values)}: " + "; ".join(wrong[:5])


def saturated(value, source, target):
    """What is too large for an 8-bit float becomes its greatest number."""
    greatest = exact.FLOATS[target].greatest if target.startswith("float8") and source != target else math.inf
    return math.copysign(greatest, value) if abs(value) > greatest else value


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", exact.TYPES)
def test_conversion(engine, source, target):
    values = operand(source)
    check(source, target, values, [exact.converted(saturated(v, source, target), target) for v in values])


@pytest.mark.parametrize("target", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16", "int64", "uint16"])
def test_what_is_too_large_for_8_bits_becomes_the_largest_number(engine, source, target):
    """Against ml_dtypes, after NumPy's clip."""
    values = operand(source)
    greatest = exact.FLOATS[target].greatest
    with np.errstate(all="ignore"):
        clipped = np.clip(np.array([float(value) for value in values]), -greatest, greatest)
        check(source, target, values, clipped.astype(exact.numpy_type(target)).astype(np.float64).tolist())


@pytest.mark.parametrize("target, number", [("float8_e4m3fn", 500.0), ("float8_e5m2", math.inf), ("float8_e4m3fn", -1000)])
def test_a_number_that_is_too_large_for_8_bits(engine, target, number):
    @tileon.jit
    def fill(y, number: tl.constexpr, to: tl.constexpr):
        tl.store(y + tl.arange(0, 16), tl.full((16,), number, to))

    y = torch.zeros(16).to(getattr(torch, target))
    fill[(1,)](y, number, getattr(tl, NAMES[target]))
    assert y.float().tolist() == [math.copysign(exact.FLOATS[target].greatest, number)] * 16


NARROWING = [
    (source, target)
    for source in ("float64", "float32", "float16", "bfloat16")
    for target in ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
    if exact.numpy_type(source).itemsize > exact.numpy_type(target).itemsize
]


@pytest.mark.parametrize("source, target", NARROWING)
def test_rounding_toward_zero(engine, source, target):
    values = operand(source)
    form = exact.FLOATS[target]
    check(source, target, values, [form.rounded(saturated(v, source, target), toward_zero=True) for v in values], "rtz")


def test_the_reference_agrees_with_numpy_and_ml_dtypes():
    values = np.array(operand("float32"), np.float32)
    with np.errstate(all="ignore"):
        for name, form in exact.FLOATS.items():
            if name != "float64":
                library = values.astype(exact.numpy_type(name)).astype(np.float64).tolist()
                assert all(same(form.rounded(v), want) for v, want in zip(values.tolist(), library)), name


@pytest.mark.parametrize("target", ["bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("source", ["int64", "uint64"])
def test_integers_beyond_doubles(engine, source, target):
    """What f64 would round first: numbers beside the middle of two neighbours."""
    middles = [(1 << p) + (1 << p - b) for p in range(50, 63) for b in (2, 3, 8, 9, 11, 12)]
    values = [m + d for m in middles for d in (-3, -1, 0, 1, 3)]
    values = [v for v in (*values, *(-v for v in values if source == "int64")) if -(2**63) <= v < 2**63]
    values += [0] * (-len(values) % N)
    for at in range(0, len(values), N):
        part = values[at : at + N]
        check(source, target, part, [exact.converted(saturated(v, source, target), target) for v in part])
