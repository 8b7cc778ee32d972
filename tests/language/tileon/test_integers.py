"""Operators of integers of every pair of types against Python's integers: all engines could share a mistake."""

import operator

import pytest
import torch
from language import exact

from tilery import tileon
from tilery.tileon import language as tl

N = 512
PAIRS = [(left, right) for left in exact.INTEGERS for right in exact.INTEGERS]


@tileon.jit
def shifts(x, y, left, right, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(left + i, tl.load(x + i) << tl.load(y + i))
    tl.store(right + i, tl.load(x + i) >> tl.load(y + i))


@tileon.jit
def arithmetic(x, y, plus, minus, times, conjunction, union, difference, n: tl.constexpr):
    i = tl.arange(0, n)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(plus + i, a + b)
    tl.store(minus + i, a - b)
    tl.store(times + i, a * b)
    tl.store(conjunction + i, a & b)
    tl.store(union + i, a | b)
    tl.store(difference + i, a ^ b)


@tileon.jit
def comparisons(x, y, less, at_most, equal, smaller, larger, n: tl.constexpr):
    i = tl.arange(0, n)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(less + i, a < b)
    tl.store(at_most + i, a <= b)
    tl.store(equal + i, a == b)
    tl.store(smaller + i, tl.minimum(a, b))
    tl.store(larger + i, tl.maximum(a, b))


@tileon.jit
def divisions(x, y, quotient, remainder, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(quotient + i, tl.load(x + i) // tl.load(y + i))
    tl.store(remainder + i, tl.load(x + i) % tl.load(y + i))


def common(left, right):
    """The type of an operator's result: the wider one; of different signs, the unsigned one unless it is narrower."""
    widths = exact.bits_of(left), exact.bits_of(right)
    if exact.is_signed(left) == exact.is_signed(right):
        return left if widths[0] >= widths[1] else right
    unsigned, signed = (right, left) if exact.is_signed(left) else (left, right)
    return unsigned if exact.bits_of(unsigned) >= exact.bits_of(signed) else signed


def operands(left, right):
    return exact.operand(left, N, seed=1), exact.operand(right, N, seed=2)


def check(kernel, x, y, left, right, wanted):
    """wanted: the type and the values of each output."""
    outputs = [torch.zeros(N, dtype=torch.uint8).to(getattr(torch, dtype)) for dtype, _ in wanted]
    kernel[(1,)](exact.tensor(x, left), exact.tensor(y, right), *outputs, N)
    for number, (output, (_, values)) in enumerate(zip(outputs, wanted)):
        wrong = [f"{a}, {b} -> {got}, not {want}" for a, b, got, want in zip(x, y, exact.values(output), values) if got != want]
        assert not wrong, f"output {number}, {len(wrong)} of {N}: " + "; ".join(wrong[:5])


def applied(operation, x, y, dtype):
    return dtype, [exact.wrapped(dtype, operation(a, b)) for a, b in zip(x, y)]


@pytest.mark.parametrize("left, right", PAIRS)
def test_shifts(engine, left, right):
    dtype = common(left, right)
    x, y = operands(left, right)
    y = [abs(amount) % min(exact.bits_of(dtype), 1 << (exact.bits_of(right) - 1)) for amount in y]
    check(shifts, x, y, left, right, [applied(operator.lshift, x, y, dtype), applied(operator.rshift, x, y, dtype)])


@pytest.mark.parametrize("left, right", PAIRS)
def test_arithmetic(engine, left, right):
    dtype = common(left, right)
    x, y = operands(left, right)
    operations = (operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor)
    check(arithmetic, x, y, left, right, [applied(operation, x, y, dtype) for operation in operations])


@pytest.mark.parametrize("left, right", PAIRS)
def test_comparisons(engine, left, right):
    dtype = common(left, right)
    x, y = operands(left, right)
    y[:64] = x[:64] if left == right else y[:64]
    a, b = ([exact.wrapped(dtype, value) for value in side] for side in (x, y))
    asked = [("bool", [test(*both) for both in zip(a, b)]) for test in (operator.lt, operator.le, operator.eq)]
    check(comparisons, x, y, left, right, [*asked, applied(min, a, b, dtype), applied(max, a, b, dtype)])


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return a - b * truncated(a, b)


@pytest.mark.parametrize("left, right", [pair for pair in PAIRS if exact.is_signed(pair[0]) == exact.is_signed(pair[1])])
def test_divisions(engine, left, right):
    """As C divides: toward zero, the remainder with the sign of the dividend."""
    dtype = common(left, right)
    x, y = operands(left, right)
    y = [b if b and (a, b) != (exact.limits(dtype)[0], -1) else 3 for a, b in zip(x, y)]
    check(divisions, x, y, left, right, [applied(truncated, x, y, dtype), applied(remainder, x, y, dtype)])


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_divisions_of_indices(engine, dtype):
    """Vectors whose lanes are all short, on either side of what short is, and such of which one lane is long."""
    edges = [0, 1, 2, 7, 1000, 2**30 - 2, 2**30 - 1, 2**30, 2**31 - 1, 2**31]
    edges += [-edge for edge in edges] if dtype == "int64" else [2**64 - 1, 2**63]
    x = [edges[i % len(edges)] if i < N // 2 else (i * 2654435761) % 2**30 for i in range(N)]
    y = [edges[i // len(edges) % len(edges)] if i < N // 2 else 1 + i % 97 for i in range(N)]
    x[N // 2 + 5 :: 48] = [2**40 + i for i in range(len(x[N // 2 + 5 :: 48]))]
    y = [b or 3 for b in y]
    check(divisions, x, y, dtype, dtype, [applied(truncated, x, y, dtype), applied(remainder, x, y, dtype)])


@tileon.jit
def by_constant(x_ptr, quotient_ptr, remainder_ptr, places_ptr, D: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(quotient_ptr + i, x // D)
    tl.store(remainder_ptr + i, x % D)
    tl.store(places_ptr + i, i // D * 1000 + i % D)


DIVISORS = [
    (dtype, divisor)
    for dtype in ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]
    for divisor in [1, 2, 3, 7, 8, 64, 100, -1, -2, -3, -8]
    if divisor > 0 or dtype.startswith("int")
]


@pytest.mark.parametrize("dtype, divisor", DIVISORS)
def test_divisions_by_constants(device, dtype, divisor):
    """Of numbers of any sign, the least one among them, and of places."""
    least, most = exact.limits(dtype)
    x = [least, most, 0, 1, most - 1, least + 1, divisor, most // 2]
    x = [(x[i] if i < len(x) else (i * 2654435761 * 40503 + 12345) % (most - least + 1) + least) for i in range(256)]
    if divisor == -1:
        x = [max(v, least + 1) for v in x]
    of = torch.tensor(x, dtype=getattr(torch, dtype))
    quotient, remainder = torch.empty_like(of, device=device), torch.empty_like(of, device=device)
    places = torch.empty(256, dtype=torch.int32, device=device)
    by_constant[(1,)](of.to(device), quotient, remainder, places, divisor, 256)
    wanted = [abs(v) // abs(divisor) * (1 if (v < 0) == (divisor < 0) else -1) for v in x]
    assert quotient.cpu().tolist() == wanted
    assert remainder.cpu().tolist() == [v - q * divisor for v, q in zip(x, wanted)]
    if divisor > 0:
        assert places.cpu().tolist() == [i // divisor * 1000 + i % divisor for i in range(256)]
