"""Functions of T one by one: what they compute, by the oracle and by machine code."""
from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def elementwise(function, source, target):
    """Y[i] = function(X[i]); the annotations are text here (`from __future__ import annotations`)."""
    n = T.dynamic("n")

    @T.prim_func
    def main(X: T.Tensor((n,), source), Y: T.Tensor((n,), target)):
        with T.Kernel(T.ceildiv(n, 32)) as bx:
            for i in T.Parallel(32):
                Y[bx * 32 + i] = function(X[bx * 32 + i])

    return tilelang.compile(main, out_idx=1)


FLOAT = {
    "exp": torch.exp, "exp2": torch.exp2, "exp10": lambda x: 10.0**x, "log": torch.log, "log2": torch.log2, "log10": torch.log10,
    "log1p": torch.log1p, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "atan": torch.atan, "sinh": torch.sinh,
    "cosh": torch.cosh, "tanh": torch.tanh, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "erf": torch.erf, "floor": torch.floor,
    "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc, "sigmoid": torch.sigmoid, "abs": torch.abs,
    "__exp": torch.exp, "__log2": torch.log2,
}  # fmt: skip


@pytest.mark.parametrize("name", FLOAT)
def test_float_functions(engine, name):
    x = torch.rand(70) * 3 + 0.1
    actual = elementwise(getattr(T, name), "float32", "float32")(x)
    torch.testing.assert_close(actual.double(), FLOAT[name](x.double()), rtol=2e-6, atol=1e-6)


def test_float_tests(engine):
    x = torch.tensor([1.0, math.inf, -math.inf, math.nan])
    for name in ("isnan", "isinf", "isfinite"):
        assert torch.equal(elementwise(getattr(T, name), "float32", "bool")(x), getattr(torch, name)(x))


INTEGER = {
    "floor division": (lambda x: x // 7, lambda x: x // 7),
    "floor modulo": (lambda x: x % 7, lambda x: x % 7),
    "by a negative": (lambda x: T.floordiv(x, -3) * 10 + T.floormod(x, -3), lambda x: (x // -3) * 10 + x % -3),
    "truncating": (lambda x: T.truncdiv(x, 7) * 100 + T.truncmod(x, 7),
                   lambda x: (np.trunc(x / 7) * 100 + np.fmod(x, 7)).astype(np.int32)),
    "shifts": (lambda x: T.shift_left(x, 3) + T.shift_right(x, 1), lambda x: (x << 3) + (x >> 1)),
    "bits": (lambda x: (x & 12) | (x ^ 5) - ~x, lambda x: (x & 12) | (x ^ 5) - ~x),
    "limits": (lambda x: T.clamp(x, -3, 9), lambda x: np.clip(x, -3, 9)),
    "min and max": (lambda x: T.min(x, 4) + T.max(x, -4), lambda x: np.minimum(x, 4) + np.maximum(x, -4)),
    "choice": (lambda x: T.if_then_else(x > 2, x, -x) + T.Select(x == 0, 100, 0),
               lambda x: np.where(x > 2, x, -x) + (x == 0) * 100),
    "rounding up": (lambda x: T.ceildiv(x, 4) + T.align_up(x, 8), lambda x: -(-x // 4) + -(-x // 8) * 8),
    "logic": (lambda x: T.if_then_else(T.And(x > -5, T.Or(x < 0, T.Not(x < 7))), 1, 2),
              lambda x: np.where((x > -5) & ((x < 0) | ~(x < 7)), 1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER)
def test_integer_functions(engine, name):
    ours, theirs = INTEGER[name]
    x = np.arange(-20, 21, dtype=np.int32)
    assert np.array_equal(elementwise(ours, "int32", "int32")(x), theirs(x))


def test_promotion(engine):
    half = torch.tensor([0.1, 2.5, 3000.0], dtype=torch.float16)
    # A constant takes the type of the value, float32 wins over float16, integers become floats.
    assert torch.equal(elementwise(lambda x: x * 1.001, "float16", "float32")(half), (half * torch.tensor(1.001).half()).float())
    wide = elementwise(lambda x: x * T.float32(1.001), "float16", "float32")(half)
    assert torch.equal(wide, half.float() * torch.tensor(1.001))
    ints = torch.tensor([1, 2, 7], dtype=torch.int32)
    assert torch.equal(elementwise(lambda x: x / 2, "int32", "float32")(ints), ints / 2)
    assert torch.equal(elementwise(lambda x: x + 0.5, "int8", "float32")(ints.char()), ints + 0.5)


def test_conversions(engine):
    x = torch.tensor([1.75, -1.75, 100.5])
    assert elementwise(lambda v: T.int32(v), "float32", "int32")(x).tolist() == [1, -1, 100]
    assert elementwise(lambda v: T.cast(v, "float16"), "float32", "float32")(x).tolist() == x.half().float().tolist()
    assert torch.equal(elementwise(lambda v: T.reinterpret(v, "int32"), "float32", "int32")(x), x.view(torch.int32))
    assert elementwise(lambda v: T.infinity("float32") - v, "float32", "float32")(x).tolist() == [math.inf] * 3
    zero = torch.zeros(1, dtype=torch.int32)
    assert elementwise(lambda v: v + T.max_value("int8"), "int32", "int32")(zero).tolist() == [127]


def test_compile_time_values():
    assert T.ceildiv(7, 2) == 4 and T.max(3, 5) == 5 and T.float32(2) == 2.0 and T.clamp(9, 0, 4) == 4
    assert T.float16 == "float16" == T.half and T.dtype("float").bits == 32 and T.dtype(torch.bfloat16) == "bfloat16"
    assert T.dtype(np.dtype("int8")) == "int8" and T.dtype(int) == "int32" and T.float16.as_torch() is torch.float16
    assert tilelang.cdiv(7, 2) == 4 and tilelang.next_power_of_2(5) == 8 and tilelang.math.next_power_of_2(1) == 1


def test_strided_parameter(engine):
    s, n = T.dynamic("s"), T.dynamic("n")

    @T.prim_func
    def main(A: T.StridedTensor((n, 3), (s, 2), "float32"), B: T.Tensor((n, 3), "float32")):
        with T.Kernel(n) as i:
            for j in T.Parallel(3):
                B[i, j] = A[i, j] + s

    kernel = tilelang.compile(main, out_idx=1)
    x = torch.randn(4, 10)
    assert torch.equal(kernel(x[:, 1:7:2]), x[:, 1:7:2] + 10)


def test_wrong_stride_is_refused():
    @T.prim_func
    def main(A: T.StridedTensor((2, 3), (8, 2), "float32"), B: T.Tensor((2, 3), "float32")):
        with T.Kernel(1):
            T.copy(A, B)

    with pytest.raises(ValueError, match=r"Argument main.A.strides\[0\] has an unsatisfied constraint: 3 == 8"):
        tilelang.compile(main, out_idx=1)(torch.ones(2, 3))


def test_size_from_an_expression(engine):
    m, k = T.dynamic("m, k")

    @T.prim_func
    def main(A: T.Tensor((2 * m + k,), "int32"), B: T.Tensor((k,), "int32"), C: T.Tensor((3,), "int32")):
        with T.Kernel(1):
            C[0] = m
            C[1] = k
            C[2] = m * k - 1

    kernel = tilelang.compile(main, out_idx=2)
    assert kernel(torch.zeros(11, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)).tolist() == [4, 3, 11]
    with pytest.raises(ValueError, match="unsatisfied constraint"):
        kernel(torch.zeros(12, dtype=torch.int32), torch.zeros(3, dtype=torch.int32))


def test_scalar_parameters(engine):
    @T.prim_func
    def main(
        R: T.Tensor((6,), "float64"), a: T.int32, b: T.int64, c: T.float32, d: "bool", e: T.uint8, f: T.float64,
        S: T.Tensor((2,), "int64"),
    ):
        with T.Kernel(1):
            R[0] = a
            R[1] = b
            R[2] = c
            R[3] = d
            R[4] = e
            R[5] = f
            S[0] = b + 1
            S[1] = T.if_then_else(d, a, e)

    r, o = torch.zeros(6, dtype=torch.float64), torch.zeros(2, dtype=torch.int64)
    kernel = tilelang.compile(main)
    kernel(r, -3, 1 << 40, 0.1, True, 200, 0.1, o)
    assert r.tolist() == [-3, float(1 << 40), np.float32(0.1), 1, 200, 0.1] and o.tolist() == [(1 << 40) + 1, -3]
    kernel(r, 1, 1, 16.0, False, 0, 1.0, o)
    assert r.tolist() == [1, 1, 16, 0, 0, 1] and o.tolist() == [2, 0]


def test_grid_of_scalars(engine):
    @T.prim_func
    def main(A: T.Tensor((16,), "int32"), blocks: T.int32):
        with T.Kernel(blocks, 2) as (bx, by):
            A[by * blocks + bx] = blocks

    a = torch.zeros(16, dtype=torch.int32)
    tilelang.compile(main)(a, 5)
    assert a.tolist() == [5] * 10 + [0] * 6


def test_safe_value(engine):
    @T.prim_func
    def main(A: T.Tensor((5,), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            T.annotate_safe_value({A: -7})
            a = T.alloc_shared((8,), "float32")
            T.copy(A[0], a)
            T.copy(a, B)

    assert tilelang.compile(main, out_idx=1)(torch.arange(5.0)).tolist() == [0, 1, 2, 3, 4, -7, -7, -7]


def test_regions(engine):
    """Dimensions of size 1 are dropped, parts of buffers are copied, a negative index counts from the end."""

    @T.prim_func
    def main(A: T.Tensor((3, 4, 6), "float32"), B: T.Tensor((4, 3), "float32"), C: T.Tensor((6,), "float32")):
        with T.Kernel(1):
            tile = T.alloc_shared((2, 4, 6), "float32")
            T.fill(tile, 9)
            T.copy(A[1, 0:4, 2:5], tile[1, :, 1:4])
            T.copy(tile[1, 0:4, 1:4], B)
            row = T.alloc_fragment((6,), "float32")
            T.copy(A[-1, -2, :], row)
            row[0] = tile[0, 0, 0]
            T.copy(row, C)

    a = torch.randn(3, 4, 6)
    b, c = tilelang.compile(main, out_idx=[1, 2])(a)
    assert torch.equal(b, a[1, :, 2:5]) and c.tolist() == [9, *a[2, 2, 1:].tolist()]


def test_loops(engine):
    @T.prim_func
    def main(A: T.Tensor((16,), "int32"), B: T.Tensor((6, 8), "int32")):
        with T.Kernel(2, 3, threads=32) as (bx, by):
            for i in T.unroll(8):
                A[bx * 8 + i] = i
            for i in T.vectorized(4):
                A[bx * 8 + i] += 100
            for i in range(6, 8):
                A[bx * 8 + i] += T.get_block_binding(0) * 1000
            for (step,) in [(1,), (2,)]:
                A[bx * 8 + step] += step
            for j in T.serial(0, 8, 3):
                B[by * 2 + bx, j] = T.get_block_extent(0) * 10 + T.get_block_extent(1)

    kernel = tilelang.compile(main)
    a, b = torch.zeros(16, dtype=torch.int32), torch.zeros(6, 8, dtype=torch.int32)
    # Programs of one column write the same numbers; one of them is enough to look at.
    @T.prim_func
    def columns(A: T.Tensor((2, 8), "int32")):
        with T.Kernel(2) as (bx,):
            for i in T.unroll(8):
                A[bx, i] = i
            for i in T.vectorized(4):
                A[bx, i] += 100
            for i in range(6, 8):
                A[bx, i] += T.get_block_binding(0) * 1000
            for (step,) in [(1,), (2,)]:
                A[bx, step] += step

    c = torch.zeros(2, 8, dtype=torch.int32)
    tilelang.compile(columns)(c)
    assert c.tolist() == [[100, 102, 104, 103, 4, 5, 6, 7], [100, 102, 104, 103, 4, 5, 1006, 1007]]
    kernel(a, b)
    assert (b[:, ::3] == 23).all() and b.sum() == 23 * 18


def test_persistent(engine):
    @T.prim_func
    def main(A: T.Tensor((5, 7), "int32")):
        with T.Kernel(3) as bx:
            for i, j in T.Persistent([5, 7], 3, bx, group_size=4):
                A[i, j] = A[i, j] + i * 10 + j

    a = torch.zeros(5, 7, dtype=torch.int32)
    tilelang.compile(main)(a)
    assert torch.equal(a, torch.arange(5).int()[:, None] * 10 + torch.arange(7).int())


def test_atomics(engine):
    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), P: T.Tensor((8,), "int32"), S: T.Tensor((2, 3), "float32")):
        with T.Kernel(8, threads=1) as bx:
            P[bx] = T.atomic_add(A[0], 1, return_prev=True)
            T.atomic_max(A[1], bx)
            T.atomic_min(A[2], bx - 3, memory_order="relaxed")
            T.atomic_or(A[3], 1 << bx)
            T.atomic_add(S, 0.5)

    a, p, s = torch.zeros(4, dtype=torch.int32), torch.zeros(8, dtype=torch.int32), torch.zeros(2, 3)
    tilelang.compile(main)(a, p, s)
    assert a.tolist() == [8, 7, -3, 255] and sorted(p.tolist()) == list(range(8)) and (s == 4).all()


@pytest.mark.parametrize("target, threads", [("auto", 64), ("c", 1)])
def test_updates_by_each_thread(target, threads, engine):
    """An update of one element is made by every thread; targets of upstream's for CPUs have one."""

    @T.prim_func
    def main(C: T.Tensor((5,), "int32"), F: T.Tensor((1,), "float32")):
        with T.Kernel(3, threads=64) as bx:
            own = T.alloc_shared((1,), "int32")
            own[0] = 0
            T.atomic_add(own[0], 1)
            T.atomic_add(C[0], 3)
            T.atomic_max(C[1], bx)
            for _ in T.serial(2):
                T.atomic_add(F[0], 0.5)
            if T.get_thread_binding() == 0:
                T.atomic_add(C[2], own[0])
            for _ in T.Parallel(5):
                T.atomic_add(C[3], 1)
            T.atomic_add(C[4:5], 1)

    c, f = torch.zeros(5, dtype=torch.int32), torch.zeros(1)
    tilelang.compile(main, target=target)(c, f)
    assert c.tolist() == [9 * threads, 2, 3 * threads, 15, 3] and f.item() == 3 * threads


def test_numbers_that_threads_draw(engine):
    @T.prim_func
    def main(C: T.Tensor((1,), "int32"), P: T.Tensor((3, 64), "int32")):
        with T.Kernel(3, threads=64) as bx:
            number = T.atomic_add(C[0], 2, return_prev=True)
            P[bx, T.get_thread_binding()] = number

    c, p = torch.zeros(1, dtype=torch.int32), torch.zeros(3, 64, dtype=torch.int32)
    tilelang.compile(main)(c, p)
    assert c.item() == 384 and sorted(p.flatten().tolist()) == list(range(0, 384, 2))


def test_a_grid_without_blocks(engine):
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 4), "float32"), B: T.Tensor((n, 4), "float32")):
        with T.Kernel(T.ceildiv(n, 8)) as bx:
            a = T.alloc_shared((8, 4), "float32")
            T.copy(A[bx * 8, 0], a)
            T.copy(a, B[bx * 8, 0])

    kernel = tilelang.compile(main, out_idx=1)
    assert torch.equal(kernel(torch.ones(3, 4)), torch.ones(3, 4))
    with pytest.raises(ValueError, match=r"the grid of `main` has no blocks: \(\(\(n \+ 8\) - 1\) // 8\) is not positive"):
        kernel(torch.ones(0, 4))


def test_print_and_assert(engine, capfd):
    @T.prim_func
    def main(A: T.Tensor((2,), "int32")):
        with T.Kernel(1):
            T.print(A[0], msg="first")
            T.print(msg="hello")
            T.device_assert(A[1] > 0, "A[1] must be positive")

    kernel = tilelang.compile(main)
    kernel(torch.tensor([41, 1], dtype=torch.int32))
    out = capfd.readouterr()
    assert all(word in out.out + out.err for word in ("first", "41", "hello"))
    with pytest.raises(Exception, match=r"A\[1\] must be positive"):
        kernel(torch.tensor([41, -1], dtype=torch.int32))


def test_prints_say_what_they_show(capfd, device):
    @T.prim_func
    def main(A: T.Tensor((2, 3), "int32")):
        with T.Kernel(1):
            kept = T.alloc_fragment((3,), "int32")
            T.copy(A[0, :], kept)
            T.print(kept)
            T.print(A, msg="all")
            T.print(A[1, 1:3])
            T.print(A[1, 0] * 2)
            T.print(A[1, 2], "last")

    tilelang.compile(main)(torch.arange(6, dtype=torch.int32).reshape(2, 3))
    words = " ".join(capfd.readouterr().out.split())
    shown = {"buffer<kept, int32>": [0, 1, 2], "all": [[0, 1, 2], [3, 4, 5]], "buffer<A, int32>": [[4, 5]]}
    shown |= {"expr<int32>": 6, "last": 5}
    expected = [f"(0, 0, 0) {name}: {values}" for name, values in shown.items()]
    if device == "cuda":  # each thread says what its elements are
        tiles = {name: np.array(values) for name, values in shown.items()}
        places = [(name, place, tile[place]) for name, tile in tiles.items() for place in np.ndindex(tile.shape)]
        expected = [f"pid (0, 0, 0) idx ({', '.join(map(str, place))}) {name}: {value}" for name, place, value in places]
    assert words == " ".join(expected)


def test_options_of_other_back_ends():
    @tilelang.jit(
        out_idx=[-1], target="cuda", execution_backend="tvm_ffi", verbose=False, compile_flags=["-O3"],
        pass_configs={tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True, "tl.enable_fast_math": True},
    )  # fmt: skip
    def build(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(1, threads=[32, 4]):
                T.copy(A, B, coalesced_width=4, disable_tma=True)

        return main

    kernel = build(8)
    assert build(8) is kernel and build(9) is not kernel
    assert torch.equal(kernel(torch.arange(8.0)), torch.arange(8.0))
    assert "tile.kernel" in kernel.get_kernel_source() and kernel.out_idx == [1]
    profiler = kernel.get_profiler()
    profiler.assert_allclose(lambda a: a)
    assert profiler.do_bench(warmup=1, rep=1) > 0 and tilelang.profiler.do_bench(lambda: None, warmup=1, rep=1) > 0


INVERSE = {
    "acos": torch.acos,
    "asin": torch.asin,
    "acosh": lambda x: torch.acosh(1 + x.abs()),
    "asinh": torch.asinh,
    "atanh": torch.atanh,
    "nearbyint": torch.round,
}


@pytest.mark.parametrize("name", INVERSE)
def test_inverse_functions(engine, name):
    x = torch.rand(64) * 1.8 - 0.9
    function = (lambda v: T.acosh(1 + T.abs(v))) if name == "acosh" else getattr(T, name)
    # acosh near 1 magnifies the rounding of its argument, by 1 / sqrt(2 |x|).
    slack = 2.0**-24 / (2 * x.abs().double()).sqrt() if name == "acosh" else 0.0
    expected = INVERSE[name](x.double())
    y = elementwise(function, "float32", "float32")(x).double()
    assert ((y - expected).abs() <= 4 * 2.0**-24 * expected.abs() + slack + 2.0**-24).all()


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64", "int32"])
@pytest.mark.parametrize("target", ["float8_e4m3fn", "float8_e5m2"])
def test_cast_to_floats_of_8_bits_saturates(engine, source, target):
    """Against torch's conversion, of values that the type holds."""
    limit = torch.finfo(getattr(torch, target)).max
    numbers = [0.0, 1.0, -3.0, limit, -limit, 1.05 * limit, -1.3 * limit, 65000.0]
    numbers += [] if source == "int32" else [float("inf"), -float("inf"), float("nan"), 0.3]
    x = torch.tensor(numbers).to(getattr(torch, source))
    expected = x.double().clamp(-limit, limit).to(getattr(torch, target)).float()
    actual = elementwise(lambda v: T.cast(T.cast(v, target), "float32"), source, "float32")(x)
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    wild = elementwise(lambda v: T.cast(T.cast(v, target, sat=False), "float32"), source, "float32")(x)
    assert not wild[6].isfinite()
    torch.testing.assert_close(wild[:5], expected[:5], rtol=0, atol=0)


def test_breaks_by_name(engine):
    @T.prim_func
    def main(A: T.Tensor((16,), "int32"), B: T.Tensor((1,), "int32")):
        with T.Kernel(1):
            found = T.alloc_var("int32", init=-1)
            for i in T.serial(16):
                if A[i] > 5:
                    found = i
                    T.loop_break()
            B[0] = found

    b = torch.zeros(1, dtype=torch.int32)
    tilelang.compile(main)(torch.arange(16, dtype=torch.int32), b)
    assert b.item() == 6


def test_branches_by_name(engine):
    @T.prim_func
    def main(A: T.Tensor((16, 16), "int32"), B: T.Tensor((16, 16), "int32"), C: T.Tensor((16,), "int32")):
        with T.Kernel(1):
            for i, j in T.Parallel(16, 16):
                with T.If(A[i, j] > 5 and i > j):
                    with T.Then():
                        B[i, j] = A[i, j] * 2
                    with T.Else():
                        B[i, j] = -1
            for i in T.serial(16):
                with T.If(A[i, 0] < 0):
                    with T.Then():
                        C[i] = i
                with T.If(A[i, 1] < 0), T.Then():
                    C[i] += 100

    a, b, c = torch.randint(-20, 20, (16, 16), dtype=torch.int32), torch.zeros(16, 16).int(), torch.full((16,), -7).int()
    tilelang.compile(main)(a, b, c)
    lower = torch.ones(16, 16).tril(-1).bool()
    assert torch.equal(b, torch.where((a > 5) & lower, a * 2, -1))
    assert torch.equal(c, torch.where(a[:, 0] < 0, torch.arange(16).int(), -7) + 100 * (a[:, 1] < 0))


def test_a_branch_by_name_holds_its_two_sides():
    def main(A: T.Tensor((16,), "int32")):
        with T.Kernel(1):
            with T.If(A[0] > 5):
                A[1] = 1
                with T.Then():
                    A[0] = 1

    with pytest.raises(RuntimeError, match="holds a `with T.Then"):
        T.prim_func(main)


def test_classes_of_helpers(engine):
    @T.meta_class
    class Sum:
        def __init__(self, name):
            self.name = name
            self.total = T.alloc_local((1,), "int32")
            self.count = T.alloc_var("int32", init=0)
            T.clear(self.total)

        def add(self, value):
            if value > 0:
                self.total[0] += value
                self.count[0] += 1

        def mean(self):
            return self.total[0] // self.count[0]

    @T.prim_func
    def main(A: T.Tensor((16,), "int32"), B: T.Tensor((2,), "int32")):
        with T.Kernel(1):
            some = Sum("some")
            for i in T.serial(16):
                some.add(A[i])
            B[0] = some.mean()
            B[1] = some.count[0]

    b = torch.zeros(2, dtype=torch.int32)
    tilelang.compile(main)(torch.arange(-8, 8, dtype=torch.int32), b)
    assert b.tolist() == [4, 7]
