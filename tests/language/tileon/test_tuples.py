"""Tuples, named tuples, descriptors and aggregates: as arguments of launches, as values, carried, returned."""

from typing import Any, NamedTuple

import pytest
import torch

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl
from tilery.tileon.tools.tensor_descriptor import TensorDescriptor


@tileon.jit
def increased(values):
    return tl.tuple([v + 1 for v in values])


@tileon.jit
def stores_each(pointers, values, first):
    for i in tl.static_range(len(values)):
        tl.store(pointers[i], increased(values)[i] + first)


@pytest.mark.parametrize("size", [0, 1, 2, 4])
def test_tuples_of_tensors_and_numbers(engine, size):
    values = tuple(range(size))
    outputs = tuple(torch.zeros(1) for _ in values)
    for first in (0, 1, 100):
        stores_each[lambda meta: (len(meta["pointers"]) and 1,)](outputs, values, first)
        assert [float(x) for x in outputs] == [v + 1 + first for v in values]


@tileon.jit
def nested(o, none, mixed, factor: tl.constexpr, one, plain=(2.5, True)):
    tl.static_assert(none is None and mixed[1][1] is None and mixed[1][3] == 4 and len(mixed[2]) == 0)
    tl.store(o, tl.load(mixed[0]) * factor)
    tl.store(o + 1, mixed[1][0])
    tl.store(o + 2, tl.load(mixed[1][2]) + one[0])
    tl.store(o + 3, plain[0])
    tl.store(o + 4, plain[1])


def test_nested_tuples_with_everything(engine):
    x, y, out = torch.full((1,), 8.0), torch.full((1,), 12.0), torch.zeros(5)
    nested[(1,)](out, None, (x, (7, None, y, tl.constexpr(4)), ()), 20, (1,))
    assert out.tolist() == [160, 7, 13, 2.5, 1]
    nested[(1,)](out, None, (x, (8, None, y, tl.constexpr(4)), ()), 2, (5,), plain=(-1.0, False))
    assert out.tolist() == [16, 8, 17, -1, 0]
    with pytest.raises(Error, match="static_assert"):
        nested[(1,)](out, None, (x, (8, None, y, tl.constexpr(5)), ()), 2, (5,))


class Strided(NamedTuple):
    ptr: Any
    shape: tuple
    stride: tuple


class Function(NamedTuple):
    fn: tl.constexpr
    captured: tuple
    scale: tl.constexpr = 1


@tileon.jit
def pointers_of(t, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    return t.ptr + m * t.stride[0] + n * t.stride[1], (m < t.shape[0]) & (n < t.shape[1])


@tileon.jit
def applies(closure, x, y, M: tl.constexpr, N: tl.constexpr):
    x = Strided(shape=x.shape, ptr=x.ptr, stride=x.stride)
    pointers, mask = pointers_of(x, M, N)
    value = closure.fn(tl.load(pointers, mask=mask, other=0), *closure.captured) * closure.scale
    pointers, mask = pointers_of(y, M, N)
    tl.store(pointers, value, mask=mask)


@tileon.jit
def times(x, a):
    return x * tl.load(a)


@tileon.jit
def plus(x, a, b):
    return x + a + b


def test_named_tuples_with_functions_and_sizes(engine):
    x, a = torch.randn(13, 20), torch.full((1,), 5.0)
    for closure, want in ((Function(times, (a,)), x * 5), (Function(plus, (3, 0.5), scale=2), (x + 3.5) * 2)):
        y = torch.zeros(20, 13).T
        applies[(1,)](closure, Strided(x, x.shape, x.stride()), Strided(y, y.size(), y.stride()), 16, 32)
        torch.testing.assert_close(y, want)


@tileon.jit
def carries(x_ptr, o_ptr, steps, rest, N: tl.constexpr):
    i = tl.arange(0, N)
    state = Strided(x_ptr, (0, (tl.zeros((N,), tl.float32), 1.0)), (N,))
    for k in range(steps):
        total, scale = state.shape[1]
        total += tl.load(state.ptr + i) * scale
        state = Strided(state.ptr + N, (state.shape[0] + k, (total, scale * 0.5)), state.stride)
    if rest > 0:
        state = Strided(state.ptr, (state.shape[0] + rest, state.shape[1]), state.stride)
    tl.static_assert(state.stride[0] == N)
    tl.store(o_ptr + i, state.shape[1][0] + state.shape[0])


@pytest.mark.parametrize("steps, rest", [(0, 0), (1, 5), (4, 0), (4, 7)])
def test_loops_and_branches_carry_tuples(engine, steps, rest):
    x, out = torch.randn(4, 16), torch.empty(16)
    carries[(1,)](x, out, steps, rest, N=16)
    want = sum((x[k] * 0.5**k for k in range(steps)), torch.zeros(16)) + sum(range(steps)) + rest
    torch.testing.assert_close(out, want)


@tileon.jit
def compares(o):
    tl.store(o, (1, 2) == (1, 2))
    tl.store(o + 1, tl.tuple((1, 2)) == (1, 1))
    both = (4, 5) + tl.tuple((6,))
    for i in tl.static_range(3):
        tl.store(o + 2 + i, both[i])
    tl.static_assert(((3, 4) or (5, 6)) == (3, 4) and (() and tl.program_id(0)) == ())
    tl.static_assert(isinstance(both, tl.tuple) and isinstance(both[0].type, tl.constexpr_type))


def test_operators_of_tuples(engine):
    out = torch.zeros(5, dtype=torch.int32)
    compares[(1,)](out)
    assert out.tolist() == [1, 0, 4, 5, 6]


@tileon.jit
def changes(o):
    t = tl.tuple([5, 6, 7])
    t[0] = 0
    tl.store(o, t[0])


def test_tuples_do_not_change():
    with pytest.raises(tileon.CompilationError):
        changes[(1,)](torch.zeros(1))


@tileon.jit
def doubles(x, pair, at, N: tl.constexpr):
    out, scale = pair
    tl.static_assert(x.block_shape[1] == N and x.dtype == tl.float32)
    for n in range(0, x.shape[1], N):
        out.store([0, n], x.load([at, n]) * scale)


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors_of_the_host(engine, padding):
    x, out = torch.randn(6, 24), torch.zeros(4, 24)
    descriptor = TensorDescriptor.from_tensor(x, [4, 8], padding=padding)
    doubles[(1,)](descriptor, (TensorDescriptor.from_tensor(out, [4, 8]), 2), 3, N=8)
    outside = 0.0 if padding == "zero" else float("nan")
    want = torch.cat([x[3:] * 2, torch.full((1, 24), outside)])
    torch.testing.assert_close(out, want, equal_nan=True)
    descriptor.block_shape = [2, 12]  # as hooks of configurations do
    doubles[(1,)](descriptor, (TensorDescriptor(out, [2, 24], [24, 1], [2, 12]), 3), 1, N=12)
    torch.testing.assert_close(out[:2], x[1:3] * 3)


@tileon.jit
def scaled(pair, sizes, plus, N: tl.constexpr = 8):
    x, factor = pair
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(x + offsets, offsets * factor + plus, mask=offsets < sizes[0] * sizes[1])


def test_launches_again_take_every_form():
    """What the native launcher takes apart itself, from the second call of a kind on."""
    x, pids = torch.zeros(12), []

    def grid(meta):
        pids.append((meta["N"], meta["sizes"]))
        return (-(-12 // meta["N"]),)

    for again in range(3):
        shape, plus = torch.zeros(2, 3 + again).shape, float(again)
        want = torch.arange(12.0) * 2 + plus
        want[6 + 2 * again :] = 0
        calls = [
            lambda: scaled[(2,)]((x, 2), shape, plus),
            lambda: scaled[grid]((x, 2), tuple(shape), plus, N=4),
            lambda: scaled[(3,)](plus=plus, sizes=shape, pair=(x, 2), N=4, num_warps=8),
            lambda: scaled[(2,)]((x, 2.0), shape, plus),
        ]
        for call in calls:
            x.zero_()
            call()
            assert torch.equal(x, want)
    assert pids == [(4, (2, 3)), (4, (2, 4)), (4, (2, 5))]
    for bad, error in (((0.5,), TypeError), (lambda meta: meta["none"], KeyError), ((1, 1, 1, 2), ValueError)):
        with pytest.raises(error):
            scaled[bad]((x, 2), (2, 3), 1.0)
    with pytest.raises(TypeError, match="nothing"):
        scaled[(1,)]((x, 2), (2, 3), 1.0, nothing=3)


@tileon.jit
def copies(pair, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(pair[1] + offsets, tl.load(pair[0] + offsets, mask=offsets < n).to(tl.float32), mask=offsets < n)


def test_a_tuple_of_the_same_types_may_hold_floats_of_another_kind():
    """torch.Tensor is the type of all of them, but kernels take some as bytes with a meaning."""
    x, grids = torch.tensor([0.5, -1.0, 3.0, 16.0]), []

    def grid(meta):
        grids.append(meta["n"])
        return (1,)

    for dtype in (torch.float32, torch.float32, torch.float8_e4m3fnuz, torch.float32, torch.float8_e4m3fnuz, torch.float16):
        out = torch.zeros(4)
        copies[grid]((x.to(dtype), out), 4, N=4)
        assert torch.equal(out, x), dtype
    assert grids == [4] * 6  # asked once a launch


def test_descriptors_whose_sizes_change_in_place():
    x, out = torch.randn(6, 24), torch.zeros(4, 24)
    source, target = TensorDescriptor.from_tensor(x, [4, 8]), TensorDescriptor.from_tensor(out, [4, 8])
    for block, at in (([4, 8], 0), ([4, 8], 1), ([2, 24], 3), ([2, 24], 4), ([4, 8], 2)):
        for descriptor in (source, target):
            descriptor.block_shape[:] = block
        out.zero_()
        doubles[(1,)](source, (target, 3), at, N=block[1])
        assert torch.equal(out[: block[0]], x[at : at + block[0]] * 3) and not out[block[0] :].any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (((4, 8), (9, 1), (4, 8)), "multiples of 16 bytes"),
        (((4, 8), (8, 2), (4, 8)), "must be contiguous"),
        (((4, 8), (8, 1), (8,)), "block_shape of 1 size"),
        (((4, 8), (8, 1), (4, 8), "one"), "padding must be"),
    ],
)
def test_wrong_descriptors(arguments, message):
    with pytest.raises(AssertionError, match=message):
        TensorDescriptor(torch.zeros(4, 8), *arguments)


@tileon.aggregate
class Sums:
    total: tl.tensor
    count: tl.tensor
    N: tl.constexpr

    def __init__(self, total, count, N):
        self.total = total
        self.count = count
        self.N = N

    @tileon.jit
    def plus(self, x, n=1):
        return Sums(self.total + x, self.count + n, self.N)

    @tileon.constexpr_function
    def twice(self):
        return 2 * self.N


@tileon.aggregate
class Pair:
    first: tl.tensor
    rest: tl.tuple

    @tileon.jit
    def __getitem__(self, index):
        return self.first + index

    @staticmethod
    @tileon.jit
    def of(x):
        return Pair(x, rest=(x, 3))


@tileon.jit
def uses_aggregates(x_ptr, o_ptr, n, N: tl.constexpr):
    sums = Sums(tl.zeros((N,), tl.float32), 0, N)
    for i in range(n):
        sums = sums.plus(tl.load(x_ptr + i * sums.N + tl.arange(0, sums.N)))
    if n > 2:
        sums = sums.plus(1.0, n=10)
    pair = Pair.of(sums.count)
    tl.store(o_ptr + tl.arange(0, N), sums.total)
    tl.store(o_ptr + N, pair[5] + pair.rest[1])
    tl.store(o_ptr + N + 1, sums.twice())


@pytest.mark.parametrize("n", [0, 2, 4])
def test_aggregates(engine, n):
    x, out = torch.randn(4, 16), torch.empty(18)
    uses_aggregates[(1,)](x, out, n, N=16)
    torch.testing.assert_close(out[:16], x[:n].sum(0) + (n > 2))
    assert out[16:].tolist() == [n + 10 * (n > 2) + 8, 32]


@tileon.aggregate
class Sizes:
    block: tl.constexpr
    rest: tl.tuple


def test_aggregates_on_the_host():
    state = Sizes(1, rest=(2,))
    assert state.rest == (2,) and isinstance(state.block, tl.constexpr) and state.block.value == 1
    with pytest.raises(AttributeError, match="Sizes has no attribute 'other'"):
        state.other = 1
    with pytest.raises(TypeError, match="Expected tuple for attribute 'rest', got int"):
        Sizes(1, 2)
    with pytest.raises(TypeError, match="rest"):
        Sizes(1)


@tileon.jit
def takes_types_and_functions(o_ptr, dtype, function, n):
    tl.store(o_ptr, function((n,))[0].to(dtype))


def test_arguments_known_at_compile_time_without_annotation(engine):
    out = torch.zeros(1)
    for n in (3, 1):
        takes_types_and_functions[(1,)](out, tl.float16, increased, tl.constexpr(n))
        assert float(out) == n + 1
    with pytest.raises(Error, match="missing the argument 'n'"):
        takes_types_and_functions[(1,)](out, tl.float16, increased)
    with pytest.raises(Error, match="argument 'n' is a str; a tensor, int, float, bool or None is expected"):
        takes_types_and_functions[(1,)](out, tl.float16, increased, "3")
