"""Launches with debug=True: mistakes that a fast launch cannot see, at the user's line."""

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
