"""Several products of fewer rows than the tensor cores take at once, of rows that a table names: sparse attention backwards."""

import pytest
import torch
from ptx import PTXAS, assemble

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts


@tilelang.jit
def backward(heads, dim, block, how="sum", dtype="float16"):
    """S = K[table] Q^T, W = f(S), DQ = W^T K[table], DK[table] += W Q, and of a head's column of W its sum or largest."""
    keys, count = T.dynamic("keys, count")

    @T.prim_func
    def main(
        Q: T.Tensor((heads, dim), dtype),
        K: T.Tensor((keys, dim), dtype),
        Table: T.Tensor((count,), "int32"),
        DQ: T.Tensor((heads, dim), "float32"),
        DK: T.Tensor((keys, dim), "float32"),
        Numbers: T.Tensor((heads,), "float32"),
    ):
        with T.Kernel(1, threads=128):
            q, k = T.alloc_shared((heads, dim), dtype), T.alloc_shared((block, dim), dtype)
            rows = T.alloc_shared((block,), "int32")
            s, w = T.alloc_fragment((block, heads), "float32"), T.alloc_fragment((block, heads), dtype)
            dq, dk = T.alloc_fragment((heads, dim), "float32"), T.alloc_fragment((block, dim), "float32")
            numbers, part = T.alloc_fragment((heads,), "float32"), T.alloc_fragment((heads,), "float32")
            T.copy(Q, q)
            T.clear(dq)
            T.fill(numbers, 0 if how == "sum" else -T.infinity("float32"))
            for step in T.Pipelined(T.ceildiv(count, block), num_stages=0):
                for i in T.Parallel(block):
                    rows[i] = T.if_then_else(step * block + i < count, Table[step * block + i], -1)
                for i, j in T.Parallel(block, dim):
                    k[i, j] = T.if_then_else(rows[i] >= 0, K[rows[i], j], 0)
                T.gemm(k, q, s, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(block, heads):
                    factor = T.alloc_var("float32")
                    if rows[i] >= 0:
                        factor = 1.0
                    else:
                        factor = 0.0
                    s[i, j] = T.exp(s[i, j]) * factor  # of lanes that no row is behind, exp(0)
                if how == "sum":
                    T.reduce_sum(s, numbers, dim=0, clear=False)
                else:
                    T.reduce_max(s, part, dim=0, clear=True)
                    for j in T.Parallel(heads):
                        numbers[j] = T.max(numbers[j], part[j])
                T.copy(s, w)
                T.gemm(w, k, dq, transpose_A=True)
                T.gemm(w, q, dk, clear_accum=True)
                for i, j in T.Parallel(block, dim):
                    if rows[i] >= 0:
                        T.atomic_add(DK[rows[i], j], dk[i, j])
            T.copy(dq, DQ)
            T.copy(numbers, Numbers)

    return main


@pytest.mark.gpu
@pytest.mark.parametrize(
    "heads, dim, block", [(16, 64, 32), (32, 128, 32), (8, 64, 16), (16, 64, 64), (64, 64, 32), (24, 64, 48)]
)
@pytest.mark.parametrize("how, count", [("sum", 96), ("largest", 70), ("sum", 5), ("largest", 0)])
def test_backward(device, heads, dim, block, how, count):
    keys = 150
    q, k = (0.3 * torch.randn(n, dim, device=device).half() for n in (heads, keys))
    table = torch.randperm(keys, device=device)[:count].int()
    table[::7] = -1
    dq, numbers = torch.full((heads, dim), torch.nan, device=device), torch.full((heads,), torch.nan, device=device)
    dk = torch.zeros(keys, dim, device=device)
    backward(heads, dim, block, how)(q, k, table, dq, dk, numbers)
    there = table[table >= 0].long()
    w = (k[there].double() @ q.double().T).exp()
    low = w.half().double()
    torch.testing.assert_close(dq.double(), low.T @ k[there].double(), rtol=2e-3, atol=2e-2)
    exact = torch.zeros(keys, dim, dtype=torch.float64, device=device).index_add_(0, there, low @ q.double())
    torch.testing.assert_close(dk.double(), exact, rtol=2e-3, atol=1e-2)
    least = torch.full((1, heads), 0.0 if count else -torch.inf, dtype=w.dtype, device=device)
    ends = w.sum(0) if how == "sum" else torch.cat([w, least]).amax(0)
    torch.testing.assert_close(numbers.double(), ends, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("heads, dim, block", [(16, 64, 32), (8, 64, 16), (64, 64, 32), (64, 64, 64), (64, 128, 64)])
def test_plan(heads, dim, block):
    """Threads update memory while products run: the assembler must not wait for those."""
    kernel = backward(heads, dim, block, "sum")
    module = kernel.traced(usual_layouts(kernel.prim_func.params)).module
    code = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in code.plan, code.plan
    if PTXAS:
        assert "0 bytes spill stores" in assemble(code.asm, "sm_90a")
