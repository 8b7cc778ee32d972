"""One element of each group of neighbours (`x[i, 2 * (j // 4) + 1]`), in loops over tiles: of either dimension, of several groups
at once, beside products and without."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit(out_idx=[2])
def picked(rows, depth, columns, step, place, share, turned, product):
    """D[i, j] = A[i, step * (j // share) + place] + A[i, .. of the first place] * (j % share); D @ B, or D."""
    groups = depth // share
    shape = (groups * step, rows) if turned else (rows, groups * step)
    m = T.dynamic("m")
    total = (groups * step, m) if turned else (m, groups * step)
    out = (m, columns if product else depth)

    @T.prim_func
    def main(A: T.Tensor(total, "float16"), B: T.Tensor((depth, columns), "float16"), C: T.Tensor(out, "float32")):
        with T.Kernel(T.ceildiv(m, rows), threads=128) as block:
            a, d = T.alloc_shared(shape, "float16"), T.alloc_shared((rows, depth), "float16")
            b, c = T.alloc_shared((depth, columns), "float16"), T.alloc_fragment((rows, columns), "float32")
            T.clear(c)
            for _ in T.Pipelined(2, num_stages=2):
                if turned:
                    T.copy(A[0, block * rows], a)
                else:
                    T.copy(A[block * rows, 0], a)
                T.copy(B, b)
                for i, j in T.Parallel(rows, depth):
                    at = step * (j // share)
                    if turned:
                        d[i, j] = a[at + place, i] + a[at, i] * T.cast(j % share, "float16")
                    else:
                        d[i, j] = a[i, at + place] + a[i, at] * T.cast(j % share, "float16")
                T.gemm(d, b, c)
            if product:
                T.copy(c, C[block * rows, 0])
            else:
                T.copy(d, C[block * rows, 0])

    return main


@pytest.mark.gpu
@pytest.mark.parametrize("rows, m", [(64, 64), (128, 200), (16, 30)])
@pytest.mark.parametrize("step, place, share", [(2, 1, 4), (2, 0, 2), (4, 3, 4), (8, 5, 2), (1, 0, 8), (3, 1, 4)])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("product", [True, False])
def test_picked(device, rows, m, step, place, share, turned, product):
    depth, columns = 64, 32
    groups = depth // share
    a = torch.randint(-4, 5, (m, groups * step), device=device).half()
    b = torch.randint(-4, 5, (depth, columns), device=device).half()
    given = a.T.contiguous() if turned else a
    c = picked(rows, depth, columns, step, place, share, turned, product)(given, b)
    j = torch.arange(depth, device=device)
    at = step * (j // share)
    d = a[:, at + place].double() + a[:, at].double() * (j % share)
    assert torch.equal(c.double(), 2 * d @ b.double() if product else d)
