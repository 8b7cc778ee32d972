"""Launches with debug=True: mistakes that a fast launch cannot see, at the user's line."""

import copy
import pickle

import pytest
import torch
from language.tileon import kernels

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl


@tileon.jit
def racing(o_ptr, BLOCK: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, BLOCK), tl.program_id(0))


@tileon.jit
def asserting(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x > 0, "x must be positive")
    assert BLOCK > 2


def line(error):
    return error.value.chain[0][1]


def test_right_programs_pass():
    x, out = torch.rand(100), torch.empty(100)
    kernels.add[(4,)](x, x, out, 100, BLOCK_SIZE=32, debug=True)
    assert torch.equal(out, 2 * x)


def test_reading_outside_an_argument():
    x, out = torch.rand(100), torch.empty(128)
    with pytest.raises(Error, match="x_ptr") as e:
        kernels.add[(4,)](x, x, out, 128, BLOCK_SIZE=32, debug=True)
    assert line(e) == kernels.add.fn.__code__.co_firstlineno + 6


def test_two_programs_that_write_one_address():
    with pytest.raises(Error) as e:
        racing[(2,)](torch.zeros(32, dtype=torch.int32), BLOCK=32, debug=True)
    assert line(e) == racing.fn.__code__.co_firstlineno + 2


def test_assertions():
    x = torch.ones(32)
    x[5] = -1
    asserting[(1,)](x, BLOCK=32)
    with pytest.raises(Error, match="x must be positive") as e:
        asserting[(1,)](x, BLOCK=32, debug=True)
    assert line(e) == asserting.fn.__code__.co_firstlineno + 3


@tileon.jit
def summing(x_ptr, y_ptr, o_ptr, op: tl.constexpr):
    x, y = tl.load(x_ptr), tl.load(y_ptr)
    if op == "add":
        z = x + y
    elif op == "sub":
        z = x - y
    else:
        z = x * y
    tl.store(o_ptr, z)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_overflow(op, dtype):
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    kind = getattr(torch, dtype)
    pairs = [(high, 1), (low, 1), (high // 2, 2), (low, low), (3, 5), (high, 0)]
    for a, b in pairs:
        exact = a + b if op == "add" else a - b if op == "sub" else a * b
        x, y, out = torch.tensor([a]).to(kind), torch.tensor([b]).to(kind), torch.zeros(1).to(kind)
        if low <= exact <= high:
            summing[(1,)](x, y, out, op, debug=True)
            assert int(out[0]) == exact
            continue
        with pytest.raises(Error, match=f"int{bits} overflow detected for operation {op}") as e:
            summing[(1,)](x, y, out, op, debug=True)
        assert line(e) == summing.fn.__code__.co_firstlineno + {"add": 4, "sub": 6, "mul": 8}[op]
        summing[(1,)](x, y, out, op, debug=True, sanitize_overflow=False)
        summing[(1,)](x, y, out, op)


@tileon.jit
def behind_masks(x_ptr, o_ptr, far, lowest, way: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    j = i.to(tl.int64) * far + far
    if way == "compared":
        mask = j >= lowest
    elif way == "negated":
        mask = ~(j < lowest)
    elif way == "not":
        mask = (j < lowest) == 0
    else:
        mask = (j < lowest) ^ (i >= 0)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=mask, other=0))


@pytest.mark.parametrize("way", ["compared", "negated", "not", "xor"])
def test_overflow_of_64_bits_behind_a_mask(way):
    x, out = torch.arange(1, 33), torch.empty(32, dtype=torch.int64)
    behind_masks[(1,)](x, out, 2**40, 2**44, way, BLOCK=32, debug=True)
    assert torch.equal(out, torch.where(torch.arange(32) >= 15, x, 0))
    with pytest.raises(Error, match="index arithmetic exceeds 64 bits") as e:
        behind_masks[(1,)](x, out, 2**60, 2**44, way, BLOCK=32, debug=True)
    assert line(e) == behind_masks.fn.__code__.co_firstlineno + 3


@tileon.jit
def drawing(o_ptr, n: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, n), tl.rand(5, tl.arange(0, n)))


def test_arithmetic_that_is_meant_to_wrap_does():
    fast, checked = torch.zeros(64), torch.zeros(64)
    drawing[(1,)](fast, 64)
    drawing[(1,)](checked, 64, debug=True)
    assert torch.equal(fast, checked)


@pytest.mark.parametrize("name", ["TRITON_DEBUG", "TILEON_DEBUG"])
def test_the_environment_asks_for_it(name, monkeypatch):
    @tileon.jit
    def asserts(x_ptr):
        tl.device_assert(tl.load(x_ptr) > 0, "x must be positive")

    monkeypatch.setenv(name, "1")
    with pytest.raises(Error, match="x must be positive"):
        asserts[(1,)](torch.zeros(1))


def test_errors_are_copied_and_pickled():
    with pytest.raises(Error) as e:
        summing[(1,)](torch.zeros(1), torch.zeros(1), "a", "add")
    outside = tileon.OutOfResources(300, 200, "shared memory")
    for error in (e.value, Error("plain", "hint", [("f.py", 1, 2, "f")]), outside):
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(other) is type(error) and str(other) == str(error)
            assert (other.message, other.hint, other.chain) == (error.message, error.hint, error.chain)
    assert pickle.loads(pickle.dumps(outside)).required == 300
