"""What upstream accepts beyond what a stricter reading of the language would."""

import pytest
import torch

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget


@tileon.jit
def scaled(x, factor: tl.constexpr):
    return x * factor


@tileon.jit
def passes_run_time_values(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, scaled(tl.load(x_ptr + i), n) + scaled(factor=i, x=2))


def test_constexpr_parameters_of_helpers_take_values_of_run_time(engine):
    x, out = torch.randn(16), torch.empty(16)
    passes_run_time_values[(1,)](x, out, 7, N=16)
    torch.testing.assert_close(out, x * 7 + 2 * torch.arange(16))


@tileon.jit
def reads_value(o_ptr, N: tl.constexpr, dtype: tl.constexpr, word: tl.constexpr):
    both: tl.constexpr = 2 * N
    tl.static_assert(both.value == 2 * N.value and word.value == "w")
    tl.store(o_ptr + tl.arange(0, both.value), tl.full((both,), both.value, dtype.value))


def test_compile_time_values_have_a_value(engine):
    out = torch.zeros(16, dtype=torch.int16)
    reads_value[(1,)](out, 8, tl.int16, "w")
    assert out.tolist() == [16] * 16


@tileon.jit
def asks_whether_null(x_ptr, y_ptr, o_ptr, n):
    if x_ptr:
        tl.store(o_ptr, 1)
    p = (y_ptr.to(tl.int64) * n).to(tl.pointer_type(tl.int32))
    if p:
        tl.store(o_ptr + 1, 1)
    if not p and x_ptr:
        tl.store(o_ptr + 2, 1)
    while p:
        p = tl.full((), 0, tl.int64).to(tl.pointer_type(tl.int32))
        tl.store(o_ptr + 3, 1)


@pytest.mark.parametrize("n", [0, 2])
def test_pointers_are_true_unless_null(engine, n):
    x, out = torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    asks_whether_null[(1,)](x, x, out, n)
    assert out.tolist() == [1, n > 0, n == 0, n > 0]


@tileon.jit
def own_variable(o_ptr, n):
    i = tl.arange(0, 4) * 1.5
    tl.store(o_ptr + tl.arange(0, 4), i)
    k = 0.5
    for i in range(n):
        tl.store(o_ptr + 4, i)
        for k in range(3):
            tl.store(o_ptr + 5, k)


@tileon.jit
def own_variable_afterwards(o_ptr, n):
    i = tl.arange(0, 4) * 1.5
    for i in range(n):
        tl.store(o_ptr + 4, i)
    tl.store(o_ptr, i)


def test_a_variable_of_a_loop_may_have_had_another_type(engine):
    out = torch.zeros(6)
    own_variable[(1,)](out, 5)
    assert out.tolist() == [0, 1.5, 3, 4.5, 4, 2]
    with pytest.raises(Error, match=r"`i` is changed by the `for` in line \d+ from float32\[4\] to int32, and used"):
        own_variable_afterwards[(1,)](out, 5)


@tileon.jit
def expands_a_scalar(x_ptr, o_ptr):
    x = tl.load(x_ptr)
    y = x[None, None, :]
    tl.static_assert(y.shape[0] == 1 and y.shape[1] == 1 and len(y.shape) == 2)
    tl.store(o_ptr + tl.arange(0, 4)[None, :], y + tl.zeros((1, 4), tl.float32))


def test_new_dimensions_of_a_scalar(engine):
    out = torch.zeros(4)
    expands_a_scalar[(1,)](torch.full((1,), 2.5), out)
    assert out.tolist() == [2.5] * 4


@tileon.jit
def names_its_type(x_ptr, o_ptr):
    x = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))
    tl.static_assert(x.type.element_ty == tl.float16 and x.dtype.element_ty == tl.float16)
    tl.store(o_ptr + tl.arange(0, 8), tl.load(x).to(x.type.element_ty))


def test_the_element_type_of_a_block_pointer(engine):
    x, out = torch.randn(8).half(), torch.zeros(8)
    names_its_type[(1,)](x, out)
    assert torch.equal(out, x.float())


@tileon.jit
def expands(o_ptr, axes: tl.constexpr):
    x = tl.expand_dims(tl.arange(0, 8), axes)
    tl.store(o_ptr + x, x)


@pytest.mark.parametrize(
    "axes, message",
    [
        (-3, "invalid axis -3"),
        ((0, 3), "invalid axis 3"),
        ((0, 0), r"duplicate axes, normalized axes = \[0, 0\]"),
        ((0, -3), r"duplicate axes, normalized axes = \[0, 0\]"),
    ],
)
def test_wrong_axes_of_expand_dims(axes, message):
    with pytest.raises(Error, match=message):
        expands[(1,)](torch.zeros(8, dtype=torch.int32), axes)


@tileon.jit
def asks_one_element(x_ptr, n):
    if tl.load(x_ptr + tl.arange(0, 1)) > n:
        tl.store(x_ptr, n)


@pytest.mark.parametrize("value", [41, 43])
def test_a_tile_of_one_element_is_a_condition(engine, value):
    x = torch.full((1,), value, dtype=torch.int32)
    asks_one_element[(1,)](x, 42)
    assert int(x) == min(value, 42)


@tileon.jit
def draws(o_ptr, seed):
    tl.store(o_ptr, tl.rand(seed, 1))


def test_refused_arguments():
    out = torch.zeros(1)
    with pytest.raises(Error, match="the seed of random numbers is an integer, got fp32"):
        draws[(1,)](out, 1.5)
    with pytest.raises(AssertionError, match="`num_warps` must be a power of 2, got 3"):
        draws[(1,)](out, 5, num_warps=3)


def test_more_threads_than_a_block_has():
    source = tileon.compiler.ASTSource(draws, {"o_ptr": "*fp32", "seed": "i32"})
    with pytest.raises(tileon.OutOfResources, match="out of resource: threads, Required: 4096, Hardware limit: 1024"):
        tileon.compile(source, GPUTarget("cuda", 90, 32), {"num_warps": 128})
    tileon.compile(source, GPUTarget("cpu", "x86", 1), {"num_warps": 128})


def test_types_are_printed_as_upstream_prints_them():
    assert [repr(t) for t in (tl.int1, tl.uint8, tl.float16, tl.bfloat16, tl.float8e4nv)] == [
        f"triton.language.{name}" for name in ("int1", "uint8", "float16", "bfloat16", "float8e4nv")
    ]
    assert str(tl.float32) == "fp32" and str(tl.pointer_type(tl.int8)) == "pointer<int8>"


@tileon.jit
def addresses(x, y, table):
    i = tl.arange(0, 4)
    tl.store(table + i, tl.where(i % 2 == 0, x + i, y + i))
    tl.store(table + 4, x.to(tl.pointer_type(tl.int8)))


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint64])
def test_pointers_are_stored_as_addresses(engine, dtype):
    x, y, table = torch.zeros(4), torch.zeros(4), torch.zeros(5, dtype=dtype)
    addresses[(1,)](x, y, table)
    assert table.tolist() == [x.data_ptr(), y.data_ptr() + 4, x.data_ptr() + 8, y.data_ptr() + 12, x.data_ptr()]
    with pytest.raises(TypeError, match="a pointer cannot be stored as int32"):
        addresses[(1,)](x, y, torch.zeros(5, dtype=torch.int32))


@tileon.jit
def halves(x, wanted):
    if wanted > 0:
        return x / 2


@tileon.jit
def calls_halves(x_ptr, o_ptr, wanted):
    half = halves(tl.load(x_ptr), wanted)
    if wanted > 0:
        tl.store(o_ptr, half)


def test_a_result_that_only_some_calls_have(engine):
    x, out = torch.tensor([3.0]), torch.zeros(2)
    calls_halves[(1,)](x, out, 1)
    calls_halves[(1,)](x, out[1:], 0)
    assert out.tolist() == [1.5, 0.0]


@tileon.jit
def limited(x_ptr, o_ptr, p_ptr, low, high, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, tl.clamp(x, low, high))
    tl.store(p_ptr + i, tl.clamp(i - 3, x, x + 1))


def test_clamp_takes_bounds_of_other_types(device):
    """As Triton promotes them: integers that the launch passes limit floats, floats limit integers."""
    x, o, p = torch.randn(64), torch.empty(64), torch.empty(64)
    limited[(1,)](x, o, p, -1, 2, 64)
    k = (torch.arange(64) - 3).float()
    assert torch.equal(o, x.clamp(-1, 2)) and torch.equal(p, torch.minimum(torch.maximum(k, x), x + 1))
