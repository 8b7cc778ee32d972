"""Loops with products that read memory under a condition (the length of a sequence, for the block that it ends in), tiles that
are multiplied and computed with, and fragments under another shape."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


@tilelang.jit
def attention(m, n, d, most):
    @T.prim_func
    def main(
        Q: T.Tensor((2 * m, d), "float16"),
        K: T.Tensor((2, most, d), "float16"),
        V: T.Tensor((2, most, d), "float16"),
        Lengths: T.Tensor((2,), "int32"),
        Out: T.Tensor((2 * m, d), "float32"),
    ):
        with T.Kernel(2, threads=128) as p:
            q, k, v = T.alloc_shared((m, d), "float16"), T.alloc_shared((n, d), "float16"), T.alloc_shared((n, d), "float16")
            scores, low = T.alloc_fragment((m, n), "float32"), T.alloc_fragment((m, n), "float16")
            out = T.alloc_fragment((m, d), "float32")
            T.copy(Q[p * m, 0], q)
            T.clear(out)
            steps = T.ceildiv(Lengths[p], n)
            for i in T.Pipelined(steps, num_stages=2):
                step = steps - 1 - i
                T.copy(K[p, step * n : step * n + n, :], k)
                T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True)
                if i == 0:
                    for x, y in T.Parallel(m, n):
                        scores[x, y] = T.if_then_else(step * n + y >= Lengths[p], 0, scores[x, y])
                T.copy(scores, low)
                T.copy(V[p, step * n : step * n + n, :], v)
                T.gemm(low, v, out)
            T.copy(out, Out[p * m, 0])

    return main


@pytest.mark.parametrize("m, n, d", [(64, 64, 64), (128, 32, 64), (64, 64, 128)])
def test_lengths(device, m, n, d):
    most, g = 5 * n, torch.Generator().manual_seed(n)
    q = torch.randint(-1, 2, (2 * m, d), generator=g, device="cpu").double()
    k, v = (torch.randint(-1, 2, (2, most, d), generator=g, device="cpu").double() for _ in range(2))
    lengths = torch.tensor([3 * n + 7, n], dtype=torch.int32, device="cpu")
    out = torch.full((2 * m, d), float("nan"), device=device)
    attention(m, n, d, most)(*(x.half().to(device) for x in (q, k, v)), lengths.to(device), out)
    for p, length in enumerate(lengths.tolist()):
        rows = slice(p * m, p * m + m)
        assert torch.equal(out.double().cpu()[rows], q[rows] @ k[p, :length].T @ v[p, :length])


@tilelang.jit
def chunks(steps, c, d, scaled):
    """Linear attention with decay: V is multiplied as it is, and scaled by rows for the state."""

    @T.prim_func
    def main(
        Q: T.Tensor((steps * c, d), "float16"),
        K: T.Tensor((steps * c, d), "float16"),
        V: T.Tensor((steps * c, d), "float16"),
        Out: T.Tensor((steps * c, d), "float32"),
    ):
        with T.Kernel(1, threads=128):
            q, k, v = (T.alloc_shared((c, d), "float16") for _ in range(3))
            scores, scores_low = T.alloc_fragment((c, c), "float32"), T.alloc_shared((c, c), "float16")
            state, state_low = T.alloc_fragment((d, d), "float32"), T.alloc_shared((d, d), "float16")
            out = T.alloc_fragment((c, d), "float32")
            T.clear(state)
            for step in T.Pipelined(steps, num_stages=1):
                if scaled:
                    for x, y in T.Parallel(c, d):
                        q[x, y] = Q[step * c + x, y] * 2
                else:
                    T.copy(Q[step * c, 0], q)
                T.copy(K[step * c, 0], k)
                T.copy(V[step * c, 0], v)
                T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
                for x, y in T.Parallel(c, c):
                    scores_low[x, y] = T.if_then_else(x >= y, scores[x, y], 0)
                T.copy(state, state_low)
                T.gemm(q, state_low, out, clear_accum=True)
                T.gemm(scores_low, v, out)
                for x, y in T.Parallel(c, d):
                    v[x, y] = v[x, y] * T.if_then_else(x % 2 == 0, 1.0, 0.5)
                T.gemm(k, v, state, transpose_A=True)
                T.copy(out, Out[step * c, 0])

    return main


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("steps", [1, 3])
def test_chunks(device, scaled, steps):
    c, d, g = 64, 64, torch.Generator().manual_seed(steps)
    q, k, v = ((torch.rand(steps * c, d, generator=g, device="cpu") < 0.05).double() for _ in range(3))
    out = torch.full((steps * c, d), float("nan"), device=device)
    chunks(steps, c, d, scaled)(*(x.half().to(device) for x in (q, k, v)), out)
    state, weights = torch.zeros(d, d, dtype=torch.double, device="cpu"), torch.ones(c, 1, dtype=torch.double, device="cpu")
    weights[1::2] = 0.5
    for step in range(steps):
        rows = slice(step * c, step * c + c)
        x = q[rows] * (2 if scaled else 1)
        assert torch.equal(out.double().cpu()[rows], torch.tril(x @ k[rows].T) @ v[rows] + x @ state)
        state += k[rows].T @ (v[rows] * weights)


@tilelang.jit
def reshaped(m, n, k, groups):
    """Sums of groups of a product's columns, of the fragment under another shape."""

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((n, k), "float16"), Out: T.Tensor((m, groups), "float32")):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared((m, k), "float16"), T.alloc_shared((n, k), "float16")
            c, total = T.alloc_fragment((m, n), "float32"), T.alloc_fragment((m, groups), "float32")
            apart = T.reshape(c, (m, groups, n // groups))
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            for x, y, z in T.Parallel(m, groups, n // groups):
                apart[x, y, z] = T.max(apart[x, y, z], 0)
            T.reduce_sum(apart, total, dim=-1, clear=True)
            T.copy(total, Out)

    return main


@pytest.mark.parametrize("groups", [1, 2, 8])
def test_reshaped(device, groups):
    m, n, k, g = 64, 64, 64, torch.Generator().manual_seed(groups)
    a, b = (torch.randint(-2, 3, (rows, k), generator=g, device="cpu").double() for rows in (m, n))
    out = torch.full((m, groups), float("nan"), device=device)
    reshaped(m, n, k, groups)(a.half().to(device), b.half().to(device), out)
    assert torch.equal(out.double().cpu(), (a @ b.T).clamp(min=0).reshape(m, groups, -1).sum(-1))


@tilelang.jit(out_idx=[-1])
def shifted_product(m, n, k, depth, columns, stages):
    """A factor that a branch brings: a window of a tensor, or, at its ends, one element after the other."""

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), X: T.Tensor((k, n), "float16"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, columns), threads=128) as bx:
            a, x = T.alloc_shared((m, depth), "float16"), T.alloc_shared((depth, columns), "float16")
            c = T.alloc_fragment((m, columns), "float32")
            T.clear(c)
            start = bx * columns - 1
            for step in T.Pipelined(T.ceildiv(k, depth), num_stages=stages):
                T.copy(A[0, step * depth], a)
                if (start >= 0) & (start + columns <= n):
                    T.copy(X[step * depth, start], x)
                else:
                    for i, j in T.Parallel(depth, columns):
                        inside = (start + j >= 0) & (start + j < n)
                        x[i, j] = T.if_then_else(inside, X[step * depth + i, start + j], T.cast(0.0, "float16"))
                T.gemm(a, x, c)
            T.copy(c, C[0, bx * columns])

    return main


@pytest.mark.parametrize("stages", [0, 2])
@pytest.mark.parametrize("depth, columns", [(16, 64), (32, 64), (64, 32)])
def test_a_factor_by_branches(device, depth, columns, stages):
    m, n, k = 64, 200, 128
    g = torch.Generator().manual_seed(depth)
    a, x = (torch.randint(-4, 5, shape, generator=g, device="cpu").half() for shape in ((m, k), (k, n)))
    got = shifted_product(m, n, k, depth, columns, stages)(a.to(device), x.to(device)).cpu()
    moved = torch.cat([torch.zeros(k, 1, dtype=torch.float16, device="cpu"), x[:, : n - 1]], 1)
    assert torch.equal(got, a.float() @ moved.float())
