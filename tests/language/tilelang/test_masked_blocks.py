"""Attention over blocks that a row of a mask leaves in, and over rows that a list names: rows of tables that the program copies
first."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


@tilelang.jit
def attention(m, n, d, steps, where, listed):
    @T.prim_func
    def main(
        Q: T.Tensor((3 * m, d), "float16"),
        K: T.Tensor((steps * n, d), "float16"),
        V: T.Tensor((steps * n, d), "float16"),
        Blocks: T.Tensor((3, steps), "int32"),
        Out: T.Tensor((3 * m, d), "float32"),
    ):
        with T.Kernel(3, threads=128) as p:
            q, k, v = T.alloc_shared((m, d), "float16"), T.alloc_shared((n, d), "float16"), T.alloc_shared((n, d), "float16")
            scores, low = T.alloc_fragment((m, n), "float32"), T.alloc_fragment((m, n), "float16")
            out = T.alloc_fragment((m, d), "float32")
            blocks = T.alloc_fragment((steps,), "int32") if where == "fragment" else T.alloc_shared((steps,), "int32")
            T.copy(Q[p * m, 0], q)
            T.copy(Blocks[p, 0:steps], blocks)
            T.clear(out)
            for step in T.Pipelined(steps, num_stages=2):
                if blocks[step] >= 0:
                    at = blocks[step] * n if listed else step * n
                    T.copy(K[at : at + n, :], k)
                    T.clear(scores)
                    T.gemm(q, k, scores, transpose_B=True)
                    T.copy(scores, low)
                    T.copy(V[at : at + n, :], v)
                    T.gemm(low, v, out)
            T.copy(out, Out[p * m, 0])

    return main


@pytest.mark.parametrize("where", ["fragment", "shared"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("m, n, d", [(64, 64, 64), (128, 64, 64), (64, 32, 128)])
def test_masked(device, where, listed, m, n, d):
    g = torch.Generator().manual_seed(m + n)
    steps = 5
    q, k, v = (torch.randint(-1, 2, (rows, d), generator=g, device="cpu").double() for rows in (3 * m, steps * n, steps * n))
    blocks = torch.tensor([[2, -1, 0, -1, 4], [-1, -1, -1, -1, -1], [4, 3, -1, 0, 1]], dtype=torch.int32, device="cpu")
    out = torch.full((3 * m, d), float("nan"), device=device)
    attention(m, n, d, steps, where, listed)(*(x.half().to(device) for x in (q, k, v)), blocks.to(device), out)
    for p in range(3):
        x = q[p * m : p * m + m]
        kept = [block if listed else step for step, block in enumerate(blocks[p].tolist()) if block >= 0]
        total = torch.zeros(m, d, dtype=torch.double, device="cpu")
        for block in kept:
            rows = slice(block * n, block * n + n)
            total += (x @ k[rows].T) @ v[rows]
        assert torch.equal(out[p * m : p * m + m].cpu().double(), total)
