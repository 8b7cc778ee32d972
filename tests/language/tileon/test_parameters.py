"""Parameters of kernels and helpers: annotations as text, defaults, keywords, None, constants, closures."""

from __future__ import annotations

import pytest
import torch

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl

WIDTH = tl.constexpr(16)
TABLE = (3, 5)


@tileon.jit
def optional(x_ptr, bias_ptr, o_ptr, scale=2.0, BLOCK: tl.constexpr = 32):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i)
    tl.store(o_ptr + i, x * scale)


def test_none_defaults_and_keywords():
    x, b, o = torch.rand(32), torch.rand(32), torch.empty(32)
    optional[(1,)](x, None, o)
    assert torch.equal(o, x * 2)
    optional[(1,)](o_ptr=o, scale=3.0, bias_ptr=b, x_ptr=x)
    assert torch.equal(o, (x + b) * 3)
    optional[(1,)](x, b, o, 0.5, BLOCK=16)
    assert torch.equal(o[:16], (x + b)[:16] * 0.5)


@tileon.jit
def globals_and_constants(o_ptr):
    i = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH,), tl.int32) + WIDTH // 3
    for k in range(len(TABLE)):
        total += k
    for k in tl.static_range(len(TABLE)):
        total += TABLE[k]
    tl.store(o_ptr + i, total, mask=i < WIDTH - 1)


def test_constant_globals():
    o = torch.zeros(16, dtype=torch.int32)
    globals_and_constants[(1,)](o)
    assert o.tolist() == [5 + 1 + 8] * 15 + [0]


def make(offset):
    @tileon.jit
    def kernel(o_ptr, n: tl.int64, flag):
        value = n + offset
        if flag:
            value = -value
        tl.store(o_ptr, value)

    return kernel


@pytest.mark.parametrize("n", [0, 1, 5, 2**31, -(2**40)])
def test_closures_and_bools(n):
    o = torch.zeros(1, dtype=torch.int64)
    for offset in (3, 4):
        for flag in (False, True):
            make(offset)[(1,)](o, n, flag)
            assert o.item() == (-1 if flag else 1) * (n + offset)


@tileon.jit(do_not_specialize=["n"])
def unspecialised(o_ptr, n):
    tl.store(o_ptr, n)


def test_do_not_specialize():
    o = torch.zeros(1, dtype=torch.int32)
    kernels = set()
    for n in (1, 16, 7):
        kernels.add(id(unspecialised[(1,)](o, n)))
        assert o.item() == n
    assert len(kernels) == 1


def test_constexpr_cannot_be_unspecialised():
    @tileon.jit(do_not_specialize=["N"])
    def kernel(o_ptr, N: tl.constexpr):
        pass

    with pytest.raises(Error, match="N marked as constexpr and listed in do_not_specialize"):
        kernel[(1,)](torch.zeros(1), 5)


@tileon.jit
def apply(f: tl.constexpr, x, n: tl.constexpr = 1):
    for _ in tl.static_range(n):
        x = f(x)
    return x


@tileon.jit
def double(x):
    return x * 2


@tileon.jit
def higher_order(o_ptr, f: tl.constexpr, dtype: tl.constexpr):
    i = tl.arange(0, 8)
    tl.store(o_ptr + i, apply(f, apply(double, i.to(dtype)), n=2))


@tileon.jit
def add_one(x):
    return x + 1


@pytest.mark.parametrize("dtype", [tl.float32, tl.int64, tl.bfloat16])
def test_functions_and_types_as_arguments(dtype):
    o = torch.zeros(8, dtype=getattr(torch, dtype.__tile_dtype__))
    higher_order[(1,)](o, add_one, dtype)
    assert o.tolist() == [2 * i + 2 for i in range(8)]


@tileon.constexpr_function
def log2(n):
    return n.bit_length() - 1


@tileon.jit
def compile_time(o_ptr, N: tl.constexpr):
    BITS: tl.constexpr = log2(N)
    shape: tl.constexpr = (2,) * BITS
    x = tl.reshape(tl.arange(0, N), shape)
    tl.static_assert(len(x.shape) == 3)
    tl.store(o_ptr, tl.sum(tl.ravel(x)) if BITS == 3 else 0)


def test_constexpr_functions_and_tuples():
    o = torch.zeros(1, dtype=torch.int32)
    compile_time[(1,)](o, 8)
    assert o.item() == 28


@tileon.jit
def minmax(x):
    return tl.min(x), tl.max(x)


@tileon.jit
def tuples(x_ptr, o_ptr, n):
    i = tl.arange(0, 16)
    low, high = minmax(tl.load(x_ptr + i))
    pair = (low, high)
    for _ in range(n):
        pair = (pair[1], pair[0])
    tl.store(o_ptr, pair[0])
    tl.store(o_ptr + 1, pair[1])


@pytest.mark.parametrize("n", [0, 3, 4])
def test_tuples_are_carried(n):
    x, o = torch.rand(16), torch.zeros(2)
    tuples[(1,)](x, o, n)
    assert o.tolist() == ([x.max(), x.min()] if n % 2 else [x.min(), x.max()])


@tileon.jit
def far(x_ptr, o_ptr, stride: tl.int64, short: "tl.int16", plain, N: "tl.constexpr"):
    tl.static_assert(stride.dtype == tl.int64)
    tl.static_assert(short.dtype == tl.int16)
    tl.static_assert(plain.dtype == tl.int32)
    tl.store(o_ptr, stride * 1000000000)
    tl.store(o_ptr + 1, short.to(tl.int64) + plain)
    tl.store(o_ptr + 2 + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N) * stride))


def test_annotated_integers_have_that_type(engine, device):
    x, out = torch.arange(32), torch.empty(10, dtype=torch.int64)
    far[(1,)](x, out, 4, -3, 40000, 8)
    assert out.tolist() == [4000000000, 39997, *range(0, 32, 4)]


@tileon.jit
def by_keyword_only(x_ptr, *, scale=2.0, N: tl.constexpr = 8):
    at = tl.arange(0, N)
    tl.store(x_ptr + at, tl.load(x_ptr + at) * scale)


def test_keyword_only_parameters(device):
    x = torch.ones(8)
    by_keyword_only[(1,)](x)
    by_keyword_only[(1,)](x, scale=3.0, N=4)
    assert x.tolist() == [6.0] * 4 + [2.0] * 4


@tileon.jit
def smallest_pair(x_ptr, o_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    bits = x.to(tl.core.get_int_dtype(bitwidth=x.dtype.primitive_bitwidth, signed=True), bitcast=True)
    tl.static_assert(bits.dtype == tl.int32 and tl.core.get_int_dtype(8, False) == tl.uint8)
    tl.store(o_ptr + tl.arange(0, N), bits)


def test_integer_types_by_width(device):
    x, out = torch.randn(8), torch.empty(8, dtype=torch.int32)
    smallest_pair[(1,)](x, out, 8)
    assert torch.equal(out, x.view(torch.int32))
