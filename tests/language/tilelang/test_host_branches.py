"""What depends on sizes before `with T.Kernel(...)`: branches, conditional numbers, numbers of constants."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def products(N, K):
    M = T.dynamic("M")

    @T.macro
    def tiles(A, B, C, rows):
        with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, rows), threads=128) as (column, row):
            a = T.alloc_shared((rows, K), "float16")
            b = T.alloc_shared((K, 32), "float16")
            c = T.alloc_fragment((rows, 32), "float32")
            T.copy(A[row * rows, 0], a)
            T.copy(B[0, column * 32], b)
            T.gemm(a, b, c, clear_accum=True)
            T.copy(c, C[row * rows, column * 32])

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        times = 2
        if M <= 4:
            with T.Kernel(T.ceildiv(N, 32), M, threads=32) as (column, row):
                for j in T.Parallel(32):
                    total = T.alloc_var("float32", init=0.0)
                    for k in T.serial(K):
                        total += T.cast(A[row, k], "float32") * B[k, column * 32 + j]
                    C[row, column * 32 + j] = total
        elif M < 64:
            times = T.ceildiv(M, 16)
            tiles(A, B, C, 16)
        else:
            tiles(A, B, C, 64)
        with T.Kernel(M, threads=32) as row:
            for j in T.Parallel(N):
                C[row, j] *= times

    return main


@pytest.mark.parametrize("M", [1, 4, 5, 40, 63, 64, 100])
def test_launches_under_conditions(M, engine):
    a, b = torch.randint(-3, 4, (M, 64)).half(), torch.randint(-3, 4, (64, 64)).half()
    kernel = tilelang.jit(products, out_idx=[2])(64, 64)
    times = (M + 15) // 16 if 4 < M < 64 else 2
    assert torch.equal(kernel(a, b).double(), a.double() @ b.double() * times)


def test_tensors_without_rows(engine):
    @tilelang.jit
    def more(X):
        n = T.dynamic("n")
        X: T.Tensor((n, 16), T.float32)
        Y = T.empty((n, 16), T.float32)
        if n > 0:
            with T.Kernel(n, threads=16) as b:
                for j in T.Parallel(16):
                    Y[b, j] = X[b, j] + 1
        return Y

    assert more(torch.empty(0, 16)).shape == (0, 16)
    assert torch.equal(more(torch.ones(2, 16)), torch.full((2, 16), 2.0))


def test_statements_without_kernels(engine):
    @T.prim_func
    def main(X: T.Tensor((4,), "float32"), n: T.int32):
        if n > 3 and n % 2 == 1:
            X[0] = n
        else:
            X[1] = n

    x, kernel = torch.zeros(4), tilelang.compile(main)
    kernel(x, 7), kernel(x, 8)
    assert x.tolist() == [7, 8, 0, 0]


@pytest.mark.parametrize("n", [1, 100, 101, 1000])
def test_conditional_numbers(n, engine):
    @tilelang.jit(out_idx=[1])
    def double():
        n = T.dynamic("n")

        @T.prim_func
        def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
            blocks = T.if_then_else(n > 100, T.ceildiv(n, 32), 1)
            per = 32 if n > 100 else n
            with T.Kernel(blocks, threads=32) as b:
                for i in T.serial(per):
                    if b * per + i < n:
                        Y[b * per + i] = X[b * per + i] * 2

        return main

    x = torch.randn(n)
    assert torch.equal(double()(x), x * 2)


def test_conditions_that_launches_stand_under():
    @tilelang.jit
    def some(X):
        n = T.dynamic("n")
        X: T.Tensor((n,), T.float32)
        if n > 5:
            assert n % 2 == 0
            with T.Kernel(n - 6, threads=1):
                X[0] = 1

    some(torch.ones(3))
    with pytest.raises(ValueError, match=r"the grid of `some` has no blocks: \(n - 6\) is not positive"):
        some(torch.ones(6))
    with pytest.raises(RuntimeError, match=r"Assume: .* does not hold in this call of `some`"):
        some(torch.ones(7))
    some(x := torch.zeros(8))
    assert x.tolist() == [1, *[0] * 7]


def test_what_branches_of_the_host_may_not_do():
    @tilelang.jit
    def returns(X):
        n = T.dynamic("n")
        X: T.Tensor((n,), T.float32)
        Y = T.empty((n,), T.float32)
        if n > 5:
            return Y
        with T.Kernel(1):
            Y[0] = 1

    @tilelang.jit
    def leaves(X):
        n = T.dynamic("n")
        X: T.Tensor((n,), T.float32)
        for i in range(3):
            if n > i:
                break
            with T.Kernel(1):
                X[0] = 1

    with pytest.raises(NotImplementedError, match="`return` inside run-time control flow"):
        returns(torch.ones(3))
    with pytest.raises(NotImplementedError, match="`break` or `continue` under a condition on sizes"):
        leaves(torch.ones(3))


def test_decisions_by_constants():
    """A constant's value is known where the function asks for it, as soon as all tensors are declared."""

    @tilelang.jit
    def double(X, most: int = 128):
        M = T.const("M")
        X: T.Tensor((M,), T.float32)
        if M > 64:
            block = most
        else:
            block = 32
        steps = [step for step in range(M) if step % block == 0]
        assert isinstance(M, int) and len(steps) == T.ceildiv(M, block)
        Y = T.empty((M,), T.float32)
        with T.Kernel(len(steps), threads=32) as b:
            for i in T.Parallel(block):
                if b * block + i < M:
                    Y[b * block + i] = X[b * block + i] * (2 if M > 64 else 3)
        return Y

    for m in (7, 64, 65, 300):
        assert torch.equal(double(torch.ones(m)), torch.full((m,), 2.0 if m > 64 else 3.0))
    assert torch.equal(double.compile(M=40)(torch.ones(40)), torch.full((40,), 3.0))


def test_constants_and_tensors_behind_decisions():
    @tilelang.jit
    def late_tensor(X, Y):
        M, N = T.const("M, N")
        X: T.Tensor((M,), T.float32)
        assert isinstance(M, int)
        Y: T.Tensor((N,), T.float32)
        with T.Kernel(1):
            Y[0] = X[0]

    @tilelang.jit
    def late_constant(X):
        M = T.const("M")
        X: T.Tensor((M,), T.float32)
        assert isinstance(M, int)
        N = T.const("N")
        with T.Kernel(1):
            X[0] = N

    with pytest.raises(AssertionError):
        late_tensor(torch.ones(3), torch.ones(3))
    with pytest.raises(RuntimeError, match="constant `N` is named after the first line that needs a constant's value"):
        late_constant(torch.ones(3))
