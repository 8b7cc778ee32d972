"""Programs against torch in float64, by the oracle and by machine code."""

from pathlib import Path

import numpy
import pytest
import torch
from language import bounds
from language.attention import attention_with_bound
from language.bounds import within
from language.tilelang import kernels

from tilery import compat, tilelang
from tilery.tilelang import language as T

norms = compat.load(Path(__file__).parents[3] / "examples" / "tilelang" / "norms.py")

pytestmark = pytest.mark.usefixtures("engine")

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def fresh(function, *args, **kwargs):
    """A kernel compiled for this test alone."""
    return tilelang.compile(function.get_tir(*args, **kwargs), out_idx=function.out_idx)


def relu_of_product(a, b, dtype):
    exact, bound = bounds.product(a, b, dtype)
    return exact.relu(), bound


def poisoned(*shape, dtype=torch.float32):
    return torch.full(shape, float("nan"), dtype=dtype) if dtype.is_floating_point else torch.full(shape, 77, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("sizes", [(32, 32, 32), (33, 47, 29), (1, 1, 1), (5, 70, 64)])
def test_matmul(dtype, sizes):
    M, N, K = sizes
    kind = getattr(torch, dtype)
    a, b, c = torch.randn(M, K, dtype=kind), torch.randn(K, N, dtype=kind), poisoned(M, N, dtype=kind)
    fresh(kernels.matmul, M, N, K, 16, 32, 8, dtype, "float64" if dtype == "float64" else "float32")(a, b, c)
    within(c, relu_of_product(a, b, c.dtype))


@pytest.mark.parametrize("transpose_A, transpose_B", [(False, True), (True, False), (True, True)])
def test_transposed_operands(transpose_A, transpose_B):
    M, N, K = 20, 36, 24
    a, b, c = torch.randn(M, K), torch.randn(K, N), poisoned(M, N)
    kernel = fresh(kernels.matmul, M, N, K, 16, 16, 16, "float32", transpose_A=transpose_A, transpose_B=transpose_B)
    kernel(a.T.contiguous() if transpose_A else a, b.T.contiguous() if transpose_B else b, c)
    within(c, relu_of_product(a, b, c.dtype))


def test_int8_matmul():
    M, N, K = 17, 16, 40
    a, b, c = (torch.randint(-128, 128, s, dtype=torch.int8) for s in ((M, K), (K, N), (M, N)))

    @T.prim_func
    def main(A: T.Tensor((M, K), "int8"), B: T.Tensor((K, N), "int8"), C: T.Tensor((M, N), "int32")):
        with T.Kernel(1):
            x = T.alloc_shared((32, 40), "int8")
            y = T.alloc_shared((40, 16), "int8")
            acc = T.alloc_fragment((32, 16), "int32")
            T.copy(A[0, 0], x)
            T.copy(B, y)
            for k in T.serial(2):
                T.gemm(x[:, k * 20 : (k + 1) * 20], y[k * 20 : k * 20 + 20, :], acc, clear_accum=k == 0)
            T.copy(acc, C[0, 0])

    c = torch.full((M, N), 99, dtype=torch.int32)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(c, (a.double() @ b.double()).int())


@pytest.mark.parametrize("shape", [(7, 33), (1, 1), (16, 64), (13, 100)])
def test_softmax(shape):
    x = torch.randn(shape) * 5
    within(fresh(norms.softmax, *shape, 4)(x), bounds.softmax(x))


@pytest.mark.parametrize("shape", [(7, 33), (1, 1), (16, 64)])
def test_rms_norm(shape):
    x = torch.randn(shape)
    within(fresh(norms.rms_norm, *shape, 4)(x), bounds.rms_norm(x, 1e-12))


@pytest.mark.parametrize("n", [1, 31, 64, 100])
def test_branches_in_parallel(n):
    x, y = torch.randn(n) * 2, poisoned(n)
    fresh(kernels.piecewise, n, 32)(x, y)
    expected = torch.where(x > 1, 1.0, torch.where(x >= -1, torch.where(x < 0, x * x, x), x.abs() + 2))
    assert torch.equal(y, expected)


def test_dynamic_sizes_share_one_kernel():
    kernel = fresh(kernels.dynamic_add, 8, 16)
    for shape in ((3, 5), (8, 16), (20, 40), (1, 1), (16, 48)):
        a, b = torch.randn(shape), torch.randn(shape)
        assert torch.equal(kernel(a, b), a + b)
    with pytest.raises(ValueError, match=r"Argument main.B.shape\[0\] has an unsatisfied constraint: 4 == 3"):
        kernel(torch.randn(3, 5), torch.randn(4, 5))


ELEMENTS = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("source", ELEMENTS)
@pytest.mark.parametrize("target", ["bool", "int8", "int32", "uint16", "int64", "float16", "bfloat16", "float32", "float64"])
def test_copy_converts(source, target):
    values = torch.tensor([[0, 1, 2, 100, 5, 7, 1]] * 2)
    x = values.to(getattr(torch, source))
    if source.startswith(("float", "bfloat")):
        x = x + torch.tensor(0.25, dtype=x.dtype)
    result = fresh(kernels.convert, 2, 7, 4, source, target)(x)
    assert result.dtype == getattr(torch, target) and torch.equal(result, x.to(result.dtype))


@pytest.mark.parametrize("seq_q, seq_k", [(16, 16), (19, 37)])
def test_attention(seq_q, seq_k):
    q, k, v = torch.randn(2, seq_q, 8), torch.randn(2, seq_k, 8), torch.randn(2, seq_k, 8)
    expected, bound = attention_with_bound(q, k, v, block=8, scale=8**-0.5)
    assert ((fresh(kernels.attention, 2, seq_q, seq_k, 8, 16, 8)(q, k, v).double() - expected).abs() <= bound).all()
    assert bound.max() < (5e-2 if q.is_cuda else 1e-3)  # the bound says something


def test_several_launches_and_workspace():
    a = torch.randn(21, 6)
    within(fresh(kernels.two_launches, 21, 6, 4)(a), bounds.added(a, 0))
    within(fresh(kernels.split_sum, 21, 6, 4)(a, torch.ones(6)), bounds.added(torch.cat([a, torch.ones(1, 6)]), 0))


def test_control_flow():
    values = [3, -5, 4, -1, 6, 90, 7]
    result = torch.full((8,), 77, dtype=torch.int32)
    fresh(kernels.control, len(values))(torch.tensor(values, dtype=torch.int32), result, 50)
    x, steps = 14, 0
    while x != 1:
        x, steps = (x // 2 if x % 2 == 0 else 3 * x + 1), steps + 1
    even = sum(i * 10 + j for i in range(3) for j in range(4) if i != j and (i + j) % 2 == 0)
    assert result.tolist() == [13, 3, steps, 0, 26 * 26 + 1, even, 14, -4]


def test_histogram():
    x, h = torch.randint(0, 10, (1000,), dtype=torch.int32), torch.zeros(10, dtype=torch.int32)
    fresh(kernels.histogram, 1000, 10, 64)(x, h)
    assert torch.equal(h, torch.bincount(x, minlength=10).int())


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(kind, dim, reverse):
    a = torch.randn(5, 9)
    turned = a.flip(dim) if reverse else a
    result = fresh(kernels.running, 5, 9, kind, dim, reverse)(a)
    result = result.flip(dim) if reverse else result
    if kind == "max":
        assert torch.equal(result, turned.cummax(dim).values)
    else:
        within(result, (turned.double().cumsum(dim), a.shape[dim] * bounds.UNITS[a.dtype] * turned.double().abs().cumsum(dim)))


REDUCE = {
    "sum": lambda a: a.sum(1),
    "abssum": lambda a: a.abs().sum(1),
    "max": lambda a: a.amax(1),
    "min": lambda a: a.amin(1),
    "absmax": lambda a: a.abs().amax(1),
}
JOIN = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum, "absmax": torch.maximum}


@pytest.mark.parametrize("kind", REDUCE)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("clear", [True, False])
def test_reduce(kind, dtype, clear):
    a = torch.randint(-50, 50, (6, 13)).to(getattr(torch, dtype))
    start = torch.randint(-50, 50, (6,)).to(a.dtype)
    expected = REDUCE[kind](a)
    if not clear and kind != "abssum":
        expected = JOIN[kind](expected, start)
    assert torch.equal(fresh(kernels.reductions, 6, 13, kind, dtype, clear)(a, start), expected)


@pytest.mark.parametrize("kind", ["bitand", "bitor", "bitxor"])
def test_reduce_bits(kind):
    a = torch.randint(0, 1 << 20, (3, 5), dtype=torch.int32)
    step = {"bitand": numpy.bitwise_and, "bitor": numpy.bitwise_or, "bitxor": numpy.bitwise_xor}[kind]
    result = fresh(kernels.reductions, 3, 5, kind, "int32", True)(a, torch.zeros(3, dtype=torch.int32))
    assert numpy.array_equal(result.cpu().numpy(), step.reduce(a.cpu().numpy(), axis=1))


def test_outputs_of_empty():
    a = torch.randn(4, 6)
    kernel = tilelang.compile(kernels.transpose_add(4, 6))
    b, c = kernel(a)
    expected = a.T.contiguous()
    expected[0] = 5
    assert torch.equal(b, expected) and torch.equal(c, a.view(torch.int32).flatten())


def test_strided_arguments():
    M, N, K = 20, 24, 28
    big = torch.randn(3 * K, 2 * M)
    a, b = big[::3, ::2].T, torch.randn(N, K).T
    c = poisoned(M, 2 * N)[:, ::2]
    assert not a.is_contiguous() and not b.is_contiguous() and not c.is_contiguous()
    kernel = fresh(kernels.matmul, M, N, K, 16, 16, 8, "float32", strides=[x.stride() for x in (a, b, c)])
    kernel(a, b, c)
    within(c, relu_of_product(a, b, c.dtype))
    again = poisoned(M, N)
    plain = fresh(kernels.matmul, M, N, K, 16, 16, 8, "float32")
    plain(a.contiguous(), b.contiguous(), again)
    assert torch.equal(again, c)
    with pytest.raises(ValueError, match=r"strides\[0\] has an unsatisfied constraint: 2 == (?s:.*)\n  hint: pass a copy of A"):
        plain(a, b.contiguous(), again)


def test_strides_of_dimensions_of_one_element_say_nothing():
    kernel = fresh(norms.softmax, T.dynamic("m"), 8, 2)
    x = torch.randn(6, 16)
    for rows in (x[:1, :8], x[:1, :8].as_strided((1, 8), (3, 1)), x[:3].reshape(-1, 8)):
        within(kernel(rows), bounds.softmax(rows))
    with pytest.raises(ValueError, match=r"strides\[0\] has an unsatisfied constraint: 16 == 8"):
        kernel(x[:3, :8])


@pytest.mark.parametrize("columns", [0, T.dynamic("n")], ids=["constant", "dynamic"])
def test_strides_of_tensors_without_elements_say_nothing(columns):
    """Those of torch are products of extents of at least 1."""

    @T.prim_func
    def main(A: T.Tensor((4, columns, 2), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(4):
                B[i] = i

    b = torch.empty(4)
    tilelang.compile(main)(torch.empty(4, 0, 2), b)
    assert b.tolist() == [0, 1, 2, 3]


def test_numpy_and_dlpack():
    class Tensor:
        """An object that only knows DLPack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = numpy.random.default_rng(0).standard_normal((5, 8)).astype(numpy.float32)
    kernel = fresh(norms.softmax, 5, 8, 2)
    result = kernel(x)
    assert isinstance(result, numpy.ndarray)
    within(torch.from_numpy(result), bounds.softmax(torch.from_numpy(x)))
    y = numpy.full((8,), 7, dtype=numpy.float32)
    fresh(kernels.piecewise, 8, 4)(Tensor(x[0]), Tensor(y))
    assert not (y == 7).any()


def test_tensors_that_require_grad():
    x = torch.randn(4, 8, requires_grad=True)
    within(fresh(norms.softmax, 4, 8, 2)(x).detach(), bounds.softmax(x.detach()))


def test_in_place():
    x = torch.randn(40)
    expected = poisoned(40)
    kernel = fresh(kernels.piecewise, 40, 16)
    kernel(x.clone(), expected)
    kernel(x, x)
    assert torch.equal(x, expected)


def test_sizes_beside_run_time_values():
    """Products, quotients and remainders of sizes in indices, extents and bounds."""
    m, n = T.dynamic("m, n")

    @T.prim_func
    def tiles(A: T.Tensor((m, n), "int32"), B: T.Tensor((m * n // 2, 2), "int32"), C: T.Tensor((n % 4 + 1,), "int32")):
        with T.Kernel(m * n // 2, threads=1) as i:
            for j in T.serial(i % 3 + n // 3):
                B[i, 0] = j + m * n - i
            B[i, 1] = A[(2 * i) // n, (2 * i) % n] + (n // 2 - i)
            for j in T.Parallel(n % 4 + 1):
                C[j] = n % 4 * 10 + j

    for rows, columns in ((4, 6), (3, 2), (5, 4)):
        a = torch.randint(0, 100, (rows, columns), dtype=torch.int32)
        half = rows * columns // 2
        b, c = torch.full((half, 2), -1, dtype=torch.int32), torch.zeros(columns % 4 + 1, dtype=torch.int32)
        tilelang.compile(tiles)(a, b, c)
        turns = [i % 3 + columns // 3 for i in range(half)]
        assert b[:, 0].tolist() == [t - 1 + rows * columns - i if t else -1 for i, t in enumerate(turns)]
        assert b[:, 1].tolist() == [int(a.flatten()[2 * i]) + columns // 2 - i for i in range(half)]
        assert c.tolist() == [columns % 4 * 10 + j for j in range(columns % 4 + 1)]


def test_variables_and_elements_are_swapped():
    @T.prim_func
    def swap(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=1):
            a = T.alloc_var("int32", init=10)
            b = T.alloc_var("int32", init=20)
            a, b = b, a
            B[0] = a
            B[1] = b
            a, A[0] = A[0], a
            B[2] = a
            A[1], A[2], b = b, A[1], A[2]
            B[3] = b
            c, d = T.alloc_var("int32", init=1), T.alloc_var("int32", init=2)
            for _ in T.serial(3):
                c, d = d, c + d
            A[3] = d * 100 + c

    a, b = torch.tensor([1, 2, 3, 4], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    tilelang.compile(swap)(a, b)
    assert b.tolist() == [20, 10, 1, 3]
    assert a.tolist() == [20, 10, 2, 805]


def test_stores_that_a_condition_keeps_inside():
    """No error is made of a store that only some iterations reach."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=1):
            s = T.alloc_shared((4,), "int32")
            T.clear(s)
            for i in T.serial(8):
                if i < 4:
                    s[i] = A[i]
                    for j in T.serial(2):
                        s[i + j - j] += 1
            for i in T.serial(8):
                if i >= n:
                    break
                s[i] += 1
            for _ in T.serial(n - 4):
                for i in T.serial(8):
                    s[i] = 77
            T.copy(s, B)

    a, b = torch.arange(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    tilelang.compile(main)(a, b)
    assert b.tolist() == [3, 4, 5, 6]
