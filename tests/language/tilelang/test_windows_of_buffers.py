"""Windows of shared buffers as factors of products side by side, and windows of fragments that are stored in memory."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


@tilelang.jit
def two_parts(m, n, first, rest, steps, filled, whole):
    """A head in two parts, as latent attention has it: each part of Q is a window of one buffer."""
    d = first + rest

    @T.prim_func
    def main(
        Q: T.Tensor((2 * m, d), "float16"),
        K: T.Tensor((steps * n, d), "float16"),
        Out: T.Tensor((2 * m, steps * n), "float32"),
    ):
        with T.Kernel(2, threads=128) as p:
            q = T.alloc_shared((m, d), "float16")
            k, tail = T.alloc_shared((n, first), "float16"), T.alloc_shared((n, rest), "float16")
            scores = T.alloc_fragment((m, n), "float32")
            if filled:
                T.clear(q)
            if whole:
                T.copy(Q[p * m, 0], q)
            else:
                T.copy(Q[p * m : p * m + m, :first], q[:, :first])
                T.copy(Q[p * m : p * m + m, first:], q[:, first:])
            for step in T.Pipelined(steps, num_stages=2):
                T.copy(K[step * n : step * n + n, :first], k)
                T.copy(K[step * n : step * n + n, first:], tail)
                T.clear(scores)
                T.gemm(q[:, :first], k, scores, transpose_B=True)
                T.gemm(q[:, first:], tail, scores, transpose_B=True)
                T.copy(scores, Out[p * m, step * n])

    return main


@pytest.mark.parametrize("filled, whole", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("m, n, first, rest", [(64, 64, 128, 64), (128, 32, 64, 32), (16, 64, 64, 64)])
def test_two_parts(device, m, n, first, rest, filled, whole):
    steps, g = 3, torch.Generator().manual_seed(m + rest)
    q, k = (torch.randint(-2, 3, (rows, first + rest), generator=g, device="cpu").double() for rows in (2 * m, steps * n))
    out = torch.full((2 * m, steps * n), float("nan"), device=device)
    two_parts(m, n, first, rest, steps, filled, whole)(q.half().to(device), k.half().to(device), out)
    assert torch.equal(out.double().cpu(), q @ k.T)


@tilelang.jit
def stored(m, n, k, steps, at, rows, left, columns, through, ragged):
    """Rows and columns of a product that exist, of sums in a tile of the machine's size."""

    @T.prim_func
    def main(
        A: T.Tensor((m, steps * k), "float16"),
        B: T.Tensor((steps * k, n), "float16"),
        Out: T.Tensor((2 * rows - ragged, columns), "float16"),
        Sums: T.Tensor((2, rows), "float32"),
    ):
        with T.Kernel(2, threads=128) as p:
            a, b = T.alloc_shared((m, k), "float16"), T.alloc_shared((k, n), "float16")
            c, total = T.alloc_fragment((m, n), "float32"), T.alloc_fragment((m,), "float32")
            low = T.alloc_shared((rows, columns), "float16")
            T.clear(c)
            for step in T.Pipelined(steps, num_stages=2):
                T.copy(A[0, step * k], a)
                T.copy(B[step * k, 0], b)
                T.gemm(a, b, c)
            T.reduce_sum(c, total, dim=1)
            if through:
                T.copy(c[at : at + rows, left : left + columns], low)
                T.copy(low, Out[p * rows, 0])
            else:
                T.copy(c[at : at + rows, left : left + columns], Out[p * rows, 0])
            if p == 0:
                T.copy(total[at : at + rows], Sums[0, :])
            else:
                T.copy(total[at : at + rows], Sums[1, :])

    return main


SHAPES = [(64, 64, 64, 0, 4, 0, 64), (64, 64, 32, 60, 4, 0, 64), (128, 64, 64, 17, 40, 8, 48), (64, 128, 64, 0, 64, 64, 64)]


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize("ragged", [0, 3])
@pytest.mark.parametrize("m, n, k, at, rows, left, columns", SHAPES)
def test_stored(device, m, n, k, at, rows, left, columns, through, ragged):
    steps, g = 2, torch.Generator().manual_seed(m + at)
    a = torch.randint(-1, 2, (m, steps * k), generator=g, device="cpu").double()
    b = torch.randint(-1, 2, (steps * k, n), generator=g, device="cpu").double()
    out = torch.full((2 * rows - ragged, columns), float("nan"), dtype=torch.half, device=device)
    sums = torch.full((2, rows), float("nan"), device=device)
    stored(m, n, k, steps, at, rows, left, columns, through, ragged)(a.half().to(device), b.half().to(device), out, sums)
    product = a @ b
    part = product[at : at + rows, left : left + columns]
    assert torch.equal(out.double().cpu(), torch.cat([part, part])[: 2 * rows - ragged])
    assert torch.equal(sums.double().cpu(), product.sum(1)[at : at + rows].expand(2, rows))


@tilelang.jit
def rows_of(n, first):
    """Without a product: windows of one dimension, one of them computed with."""

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), Out: T.Tensor((n - first,), "float32"), Twice: T.Tensor((first,), "float32")):
        with T.Kernel(1, threads=32):
            x = T.alloc_fragment((n,), "float32")
            T.copy(A, x)
            for i in T.Parallel(n):
                x[i] = x[i] * 3
            T.copy(x[first:n], Out)
            for i in T.Parallel(first):
                Twice[i] = x[i] * 2

    return main


@pytest.mark.parametrize("n, first", [(64, 1), (40, 37), (128, 64)])
def test_rows(device, n, first):
    a = torch.randn(n, device="cpu")
    out, twice = (torch.full((size,), float("nan"), device=device) for size in (n - first, first))
    rows_of(n, first)(a.to(device), out, twice)
    assert torch.equal(out.cpu(), a[first:] * 3) and torch.equal(twice.cpu(), a[:first] * 3 * 2)
