"""libdevice's functions with a stated rounding, its conversions and its bits of floats: against Python's fractions and NumPy."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from core.functions import kernels
from language import exact

from tilery import tileon
from tilery.tileon import language as tl

N = 256
DIRECTIONS = {"rn": None, "rz": 0, "rd": -1, "ru": 1}
RNG = np.random.default_rng(11)


def neighbours(dtype, value):
    """The numbers of a float type around an exact value: (below, above), equal where it is one."""
    form = exact.FLOATS[dtype]
    near = form.rounded(value)
    kind = np.dtype(dtype).type
    if math.isinf(near):
        last = math.copysign(form.greatest, near)
        return (last, near) if near > 0 else (near, last)
    if Fraction(near) == value:
        return near, near
    other = float(np.nextafter(kind(near), kind(math.inf if Fraction(near) < value else -math.inf)))
    return (near, other) if Fraction(near) < value else (other, near)


def wanted(dtype, value, mode):
    """An exact value, rounded."""
    if mode == "rn":
        return exact.FLOATS[dtype].rounded(value)
    below, above = neighbours(dtype, value)
    if mode == "rz":
        return below if value > 0 else above
    return below if mode == "rd" else above


def run(function, result, *operands):
    """The function's values on arrays."""

    @tileon.jit
    def kernel(a, b, c, o, count: tl.constexpr, function: tl.constexpr, n: tl.constexpr):
        i = tl.arange(0, n)
        if count == 1:
            r = function(tl.load(a + i))
        elif count == 2:
            r = function(tl.load(a + i), tl.load(b + i))
        else:
            r = function(tl.load(a + i), tl.load(b + i), tl.load(c + i))
        tl.store(o + i, r)

    tensors = [kernels.to_torch(np.ascontiguousarray(x)) for x in operands]
    out = torch.zeros(len(operands[0]), dtype=getattr(torch, result))
    kernel[(1,)](*tensors, *[tensors[0]] * (3 - len(tensors)), out, len(tensors), function, len(operands[0]))
    return out.numpy() if result[0] != "u" else kernels.to_numpy(out, result)


@pytest.fixture(params=["oracle", "machine"], autouse=True)
def place(request, monkeypatch):
    monkeypatch.setenv("TILERY_ORACLE", "1" if request.param == "oracle" else "0")


def floats(dtype, wide):
    random = RNG.normal(size=N) * np.exp2(RNG.integers(-wide, wide + 1, N))
    random[:8] = [1, -1, 3, -3, 0.1, -0.1, 2.0**-20, 7]
    return RNG.permutation(random).astype(dtype)


OPERATIONS = {
    "add": (2, 60, lambda x, y: x + y),
    "sub": (2, 60, lambda x, y: x - y),
    "mul": (2, 20, lambda x, y: x * y),
    "div": (2, 20, lambda x, y: x / y),
    "rcp": (1, 20, lambda x: 1 / x),
    "fma": (3, 30, lambda x, y, z: x * y + z),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", DIRECTIONS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_directed_arithmetic(name, mode, dtype):
    count, wide, value = OPERATIONS[name]
    operands = [floats(dtype, wide) for _ in range(count)]
    if count > 1:
        operands[1][::7] = operands[0][::7]  # exact results, too
    got = run(getattr(tl.extra.libdevice, f"{name}_{mode}"), dtype, *operands)
    for lanes, result in zip(zip(*operands), got):
        exactly = value(*(Fraction(float(x)) for x in lanes))
        assert not exactly or float(result) == wanted(dtype, exactly, mode), (name, mode, lanes)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["rz", "rd", "ru"])
def test_directed_roots(mode, dtype):
    x = np.abs(floats(dtype, 40))
    got = run(getattr(tl.extra.libdevice, f"sqrt_{mode}"), dtype, x)
    for value, root in zip(x, got):
        root = float(root)
        up, down = (float(np.nextafter(np.dtype(dtype).type(root), np.dtype(dtype).type(t))) for t in (math.inf, -math.inf))
        square = Fraction(float(value))
        if mode == "ru":
            assert Fraction(down) ** 2 < square <= Fraction(root) ** 2
        else:
            assert Fraction(root) ** 2 <= square < Fraction(up) ** 2


def test_directed_overflow_and_special_values():
    big = np.full(8, np.finfo(np.float32).max)
    for mode, want in (("rz", big[0]), ("rd", big[0]), ("ru", math.inf), ("rn", math.inf)):
        assert float(run(getattr(tl.extra.libdevice, f"add_{mode}"), "float32", big, big)[0]) == want
    zero, one = np.zeros(8, np.float32), np.ones(8, np.float32)
    assert run(tl.extra.libdevice.div_rz, "float32", one, zero).tolist() == [math.inf] * 8
    assert np.isnan(run(tl.extra.libdevice.div_rd, "float32", zero, zero)).all()
    assert run(tl.extra.libdevice.mul_ru, "float32", np.full(8, math.inf, np.float32), one).tolist() == [math.inf] * 8


INTEGERS = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
FLOATS = {"float": "float32", "double": "float64"}
ROUND = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


@pytest.mark.parametrize("mode", DIRECTIONS)
@pytest.mark.parametrize("word", INTEGERS)
@pytest.mark.parametrize("float_word", FLOATS)
def test_conversions(float_word, word, mode):
    kind, integer = FLOATS[float_word], INTEGERS[word]
    low, high = exact.limits(integer)
    x = floats(kind, 70)
    x[:6] = [0.5, 1.5, -0.5, 2.5, 1e30, -1e30]
    got = run(getattr(tl.extra.libdevice, f"{float_word}2{word}_{mode}"), integer, x)
    assert [int(v) for v in got] == [min(max(ROUND[mode](Fraction(float(v))), low), high) for v in x]
    if float_word == "double" and word in ("int", "uint") and mode != "rn":
        return
    y = np.array(exact.operand(integer, N, seed=4), dtype=integer)
    got = run(getattr(tl.extra.libdevice, f"{word}2{float_word}_{mode}"), kind, y)
    assert [float(v) for v in got] == [wanted(kind, Fraction(int(v)), mode) if v else 0.0 for v in y]


@pytest.mark.parametrize("mode", DIRECTIONS)
def test_narrowing(mode):
    x = floats("float64", 60)
    x[:3] = [1e39, -1e39, 1e-50]
    got = run(getattr(tl.extra.libdevice, f"double2float_{mode}"), "float32", x)
    assert [float(v) for v in got] == [wanted("float32", Fraction(float(v)), mode) for v in x]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neighbours_and_powers_of_two(dtype):
    x, y = floats(dtype, 30), floats(dtype, 30)
    tiny = np.finfo(dtype).smallest_subnormal
    x[:8], y[:8] = [0, 0, tiny, -tiny, 1, np.inf, -np.inf, np.nan], [1, -1, 0, 0, 1, 0, 0, 1]
    np.testing.assert_array_equal(run(tl.extra.libdevice.nextafter, dtype, x, y), np.nextafter(x, y))
    n = RNG.integers(-1200, 1200, N).astype(np.int32)
    x[8] = np.finfo(dtype).max
    n[8:12] = [-2200, 2200, -1070, -140]
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(x, n)
    np.testing.assert_array_equal(run(tl.extra.libdevice.ldexp, dtype, x, n), scaled)
    np.testing.assert_array_equal(run(tl.extra.libdevice.scalbn, dtype, x, n), scaled)


def test_bits():
    x = RNG.integers(-(2**31), 2**31, N).astype(np.int32)
    y, s = RNG.permutation(x), RNG.integers(0, 2**16, N).astype(np.int32)
    np.testing.assert_array_equal(run(tl.extra.libdevice.int_as_float, "float32", x).view(np.int32), x)
    np.testing.assert_array_equal(run(tl.extra.libdevice.float_as_int, "int32", x.view(np.float32)), x)
    double = run(tl.extra.libdevice.hiloint2double, "float64", x, y)
    np.testing.assert_array_equal(double.view(np.int64), (x.astype(np.int64) << 32) | y.astype(np.uint32))
    np.testing.assert_array_equal(run(tl.extra.libdevice.double2hiint, "int32", double), x)
    np.testing.assert_array_equal(run(tl.extra.libdevice.double2loint, "int32", double), y)

    def permuted(x, y, s):
        eight = (int(x) & 0xFFFFFFFF).to_bytes(4, "little") + (int(y) & 0xFFFFFFFF).to_bytes(4, "little")
        chosen = []
        for k in range(4):
            nibble = int(s) >> 4 * k & 15
            byte = eight[nibble & 7]
            chosen.append((255 if byte > 127 else 0) if nibble & 8 else byte)
        return int.from_bytes(bytes(chosen), "little", signed=True)

    got = run(tl.extra.libdevice.byte_perm, "int32", x, y, s)
    assert got.tolist() == [permuted(*lanes) for lanes in zip(x, y, s)]


@tileon.jit
def bits_of(x_ptr, o_ptr, f_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, tl.extra.libdevice.popc(x))
    tl.store(o_ptr + N + at, tl.extra.libdevice.clz(x))
    tl.store(o_ptr + 2 * N + at, tl.extra.libdevice.ffs(x))
    tl.store(f_ptr + at, tl.extra.libdevice.nextafter(tl.load(f_ptr + at), float("inf")))
    tl.store(f_ptr + N + at, tl.rand(x, at))


@pytest.mark.parametrize("debug", [False, True])
def test_integers_wrap_within_a_function(debug):
    """A debug launch asserts that the program's own sums and products fit their types."""
    x = torch.tensor(RNG.integers(-(2**31), 2**31, N), dtype=torch.int32)
    counts, floats = torch.zeros(3, N, dtype=torch.int32), torch.full((2, N), -float("inf"))
    bits_of[(1,)](x, counts, floats, N, debug=debug)
    words = [int(v) & 0xFFFFFFFF for v in x]
    assert counts[0].tolist() == [w.bit_count() for w in words]
    assert counts[1].tolist() == [32 - w.bit_length() for w in words]
    assert counts[2].tolist() == [(w & -w).bit_length() for w in words]
    assert (floats[0] == torch.finfo(torch.float32).min).all() and (0 <= floats[1]).all() and (floats[1] < 1).all()
