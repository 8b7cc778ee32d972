"""Eager kernels: @tilelang.jit on the function itself."""

import numpy as np
import pytest
import torch
from language.products import factor

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit
def matmul(A, B, block_M=32, block_N=32, block_K=16, relu=False):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), "float32")
    B: T.Tensor((K, N), "float32")
    C = T.empty((M, N), "float32")
    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
        a = T.alloc_shared((block_M, block_K), "float32")
        b = T.alloc_shared((block_K, block_N), "float32")
        c = T.alloc_fragment((block_M, block_N), "float32")
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
            T.copy(A[by * block_M, k * block_K], a)
            T.copy(B[k * block_K, bx * block_N], b)
            T.gemm(a, b, c)
        if relu:
            for i, j in T.Parallel(block_M, block_N):
                c[i, j] = T.max(c[i, j], 0)
        T.copy(c, C[by * block_M, bx * block_N])
    return C


@tilelang.jit
def double(A, scale: float = 2.0):
    N = T.const("N")
    A: T.Tensor((N, N * 2), "float32")
    with T.Kernel(N) as i:
        for j in T.Parallel(N * 2):
            A[i, j] = A[i, j] * scale


@tilelang.jit
def hidden(A):
    N = T.const("N")
    A: T.Tensor((N * 2,), "float32")
    with T.Kernel(1):
        A[0] = N


def test_matmul():
    for M, N, K in ((40, 50, 30), (32, 32, 16), (1, 1, 1)):
        a, b = torch.randn(M, K), torch.randn(K, N)
        expected = (factor(a) @ factor(b)).float()
        torch.testing.assert_close(matmul(a, b), expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(matmul(a, b, block_M=16, relu=True), expected.relu(), rtol=1e-5, atol=1e-5)
    kernel = matmul.compile(M=64, N=64, K=64)
    assert "tile.kernel" in kernel.get_kernel_source() and kernel is matmul.compile(M=64, N=64, K=64)


def test_no_outputs():
    a = np.ones((3, 6), np.float32)
    assert double(a) is None and (a == 2).all()
    double(a, scale=5.0)
    assert (a == 10).all()
    with pytest.raises(ValueError, match=r"Argument double.A.shape\[1\] has an unsatisfied constraint: 5 == 6"):
        double(np.ones((3, 5), np.float32))


@tilelang.jit
def ramp(n, step=1, dtype="int32"):
    A = T.empty(n, 2, dtype=dtype)
    with T.Kernel(n) as i:
        A[i, 0] = i * step
        A[i, 1] = -i
    return A


def test_without_tensor_parameters():
    expected = torch.arange(5, device="cpu")  # no argument names another device
    for kernel, step in ((ramp(5), 1), (ramp(5, step=3), 3), (ramp(5, 3, "float32"), 3)):
        assert torch.equal(kernel.long().cpu(), torch.stack((expected * step, -expected), 1))
    assert ramp(5, 3, "float32").dtype == torch.float32 and ramp(7).shape == (7, 2)


@tilelang.jit
def halves(A):
    n = T.dynamic("n")
    m = T.const("m")
    A: T.Tensor((n, m), "int32")
    B = T.empty((n * m // 2 + n % 2,), "int32")
    with T.Kernel(n * m // 2 + n % 2, threads=1) as i:
        B[i] = A[i // m, i % m] * 10 + n // 2
    return B


@tilelang.jit
def mixed(A, B, C):
    n, k = T.const("n"), T.dynamic("k")
    A: T.Tensor((n * k, k + n // 2), "int32")
    B: T.Tensor((n,), "int32")
    C: T.Tensor((k,), "int32")
    with T.Kernel(k, threads=1) as i:
        for j in T.serial(n):
            C[i] = C[i] + B[j] * A[i * n + j, k + n // 2 - 1]


def test_sizes_known_at_each_call_and_constants():
    for n, m in ((2, 3), (5, 3), (7, 4)):
        a = torch.arange(n * m, dtype=torch.int32).reshape(n, m)
        assert torch.equal(halves(a), a.flatten()[: n * m // 2 + n % 2] * 10 + n // 2)
    assert len(halves.eager.kernels) == 2, "one kernel a constant, for all sizes"
    for n, k in ((4, 2), (4, 5), (3, 3)):
        a = torch.randint(-5, 6, (n * k, k + n // 2), dtype=torch.int32)
        b, c = torch.arange(1, n + 1, dtype=torch.int32), torch.zeros(k, dtype=torch.int32)
        mixed(a, b, c)
        assert torch.equal(c, (a[:, -1].reshape(k, n) * b).sum(1))
    with pytest.raises(ValueError, match="A.shape"):
        mixed(torch.zeros(9, 4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32), torch.zeros(2, dtype=torch.int32))


rows, columns = T.dynamic("rows, columns")


@tilelang.jit
def transposed(A: T.Tensor((rows, columns), "float32"), scale=1):
    B = T.empty((columns, rows), "float32")
    with T.Kernel(rows, columns, threads=1) as (i, j):
        B[j, i] = A[i, j] * scale
    return B


def test_tensors_declared_in_the_signature():
    for shape in ((3, 4), (1, 7)):
        a = torch.randn(shape)
        assert torch.equal(transposed(a), a.T) and torch.equal(transposed(a, scale=2), a.T * 2)
    assert len(transposed.eager.kernels) == 2


def test_wrong_use():
    with pytest.raises(RuntimeError, match="constant `N` of `hidden` is no dimension of a tensor"):
        hidden(np.ones(4, np.float32))
    with pytest.raises(RuntimeError, match="T.const is used outside of an eager kernel"):
        T.const("M")
    with pytest.raises(ValueError, match="`double` is an eager kernel: out_idx is for prim_funcs"):
        tilelang.jit(double.function, out_idx=[0])


def test_missing_arguments():
    @tilelang.jit
    def filled(A, value, block: int = 4):
        A: T.Tensor((4,), "float32")
        with T.Kernel(1):
            for i in T.Parallel(block):
                A[i] = value

    a = torch.zeros(4)
    for _ in range(2):
        with pytest.raises(TypeError, match="`filled` is missing the argument `value`(?s:.*)hint: its parameters: A, value"):
            filled(a)
        with pytest.raises(TypeError, match="`filled` is given a tensor for `value`, which nothing declares as one"):
            filled(a, torch.ones(4))
    filled(a, value=3)
    assert (a == 3).all()


def test_functions_for_types_of_tensors():
    @tilelang.jit
    def double(A, block: int = 8):
        N = T.const("N")
        A: T.Tensor[[N], T.float32]
        B = T.empty([N], T.float32)
        with T.Kernel(T.ceildiv(N, block)) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2
        return B

    kernels = tilelang.par_compile([double.get_tir(T.Tensor((n,), "float32")) for n in (16, 40)])
    for n, kernel in zip((16, 40), kernels):
        assert (kernel(torch.ones(n)) == 2).all()
    assert (double.par_compile([{"A": T.Tensor((24,), "float32"), "block": 4}])[0](torch.ones(24)) == 2).all()


@tilelang.jit
def shifted(X, K, Y, width):
    rows = T.const("rows")
    K = width  # a number for a while, as programs name sizes that were ported
    print("rows", rows, "padded", tilelang.cdiv(rows, 16) * 16, "width", K)
    X: T.Tensor([rows, width], T.float32)
    K: T.Tensor([width], T.float32)
    Y: T.Tensor([rows, width], T.float32)
    with T.Kernel(rows, threads=32) as i:
        for j in T.Parallel(width):
            Y[i, j] = X[i, j] + K[j]


def test_names_that_are_assigned_before_they_are_declared(capsys):
    x, k = torch.randn(5, 8), torch.randn(8)
    y = torch.full_like(x, float("nan"))
    shifted(x, k, y, width=8)
    assert torch.equal(y, x + k)
    assert "rows 5 padded 16 width 8" in capsys.readouterr().out  # print ahead of T.Kernel is Python's
