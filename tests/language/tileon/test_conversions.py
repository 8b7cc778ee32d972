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
SATURATES = pytest.mark.xfail(strict=True, reason="defect: 8-bit floats overflow to NaN or infinity, not to the largest one")
TOWARD_ZERO = pytest.mark.xfail(strict=True, reason="defect: fp_downcast_rounding='rtz' rounds to the nearest number")


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


def too_large(value, target):
    """Beyond what rounds to a finite 8-bit float."""
    return target.startswith("float8") and not math.isfinite(exact.FLOATS[target].rounded(value))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", exact.TYPES)
def test_conversion(engine, source, target):
    values = operand(source)
    check(source, target, values, [None if too_large(v, target) else exact.converted(v, target) for v in values])


@SATURATES
@pytest.mark.parametrize("target", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16"])
def test_what_is_too_large_for_8_bits_becomes_the_largest_number(engine, source, target):
    greatest = exact.FLOATS[target].greatest
    values = ([value for value in operand(source) if too_large(value, target) and not math.isnan(value)] * N)[:N]
    check(source, target, values, [math.copysign(greatest, value) for value in values])


@TOWARD_ZERO
@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_rounding_toward_zero(engine, target):
    values = operand("float32")
    check("float32", target, values, [exact.FLOATS[target].rounded(v, toward_zero=True) for v in values], "rtz")


def test_the_reference_agrees_with_numpy_and_ml_dtypes():
    values = np.array(operand("float32"), np.float32)
    with np.errstate(all="ignore"):
        for name, form in exact.FLOATS.items():
            if name != "float64":
                library = values.astype(exact.numpy_type(name)).astype(np.float64).tolist()
                assert all(same(form.rounded(v), want) for v, want in zip(values.tolist(), library)), name
