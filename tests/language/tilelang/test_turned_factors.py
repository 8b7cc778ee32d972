"""A factor that is computed once and multiplied, turned, in each step of a loop: it is stored as it was and read along rows."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit
def scores(rows, tile, heads, d, dtype):
    """Sums over heads of K[n] . (2 Q[h]), 0 at least, by tiles of rows; the last one is there in part."""

    @T.prim_func
    def main(Q: T.Tensor((heads, d), dtype), K: T.Tensor((rows, d), dtype), Out: T.Tensor((rows,), "float32")):
        with T.Kernel(1, threads=128):
            q, k = T.alloc_shared((heads, d), dtype), T.alloc_shared((tile, d), dtype)
            s, sums = T.alloc_fragment((tile, heads), "float32"), T.alloc_fragment((tile,), "float32")
            order = T.alloc_shared((tile,), "float32")
            T.copy(Q, q)
            for i, j in T.Parallel(heads, d):
                q[i, j] = q[i, j] * 2
            for step in T.serial(T.ceildiv(rows, tile)):
                for i, j in T.Parallel(tile, d):
                    k[i, j] = T.if_then_else(step * tile + i < rows, K[step * tile + i, j], 0)
                T.gemm(k, q, s, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(tile, heads):
                    s[i, j] = T.max(s[i, j], 0)
                T.reduce_sum(s, sums, dim=1)
                T.copy(sums, order)
                for i in T.Parallel(tile // 2):  # neighbours that stand the wrong way round change places
                    if order[2 * i] > order[2 * i + 1]:
                        kept = order[2 * i]
                        order[2 * i] = order[2 * i + 1]
                        order[2 * i + 1] = kept
                T.copy(order, Out[step * tile])

    return main


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("rows, tile, heads, d", [(96, 32, 64, 128), (70, 16, 24, 32), (64, 32, 40, 48), (33, 32, 8, 64)])
def test_scores(device, rows, tile, heads, d, dtype):
    torch.manual_seed(rows)
    q, k = (torch.randint(-2, 3, shape, device="cpu").to(getattr(torch, dtype)) for shape in ((heads, d), (rows, d)))
    out = torch.full((rows,), float("nan"), device=device)
    scores(rows, tile, heads, d, dtype)(q.to(device), k.to(device), out)
    full = torch.zeros(-(-rows // tile) * tile, device="cpu")
    full[:rows] = (k.float() @ (2 * q.float()).T).clamp(min=0).sum(1)
    assert torch.equal(out.cpu(), full.view(-1, 2).sort(1)[0].view(-1)[:rows])
