"""Sums over other dimensions than the last, in loops and outside of them, between warps, of rows that are there in part."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit
def column_sums(rows, columns, tile, dtype):
    """Sums and largest magnitudes of a tensor's columns, by tiles of rows, the last of which is there in part."""

    @T.prim_func
    def main(
        X: T.Tensor((rows, columns), dtype),
        Scale: T.Tensor((rows,), "float32"),
        Sums: T.Tensor((columns,), "float32"),
        Most: T.Tensor((columns,), "float32"),
    ):
        with T.Kernel(1, threads=256):
            x = T.alloc_fragment((tile, columns), dtype)
            scaled = T.alloc_fragment((tile, columns), "float32")
            sums, most = T.alloc_fragment((columns,), "float32"), T.alloc_fragment((columns,), "float32")
            T.fill(sums, 0.0)
            T.fill(most, 0.0)
            for step in T.serial(T.ceildiv(rows, tile)):
                T.copy(X[step * tile, 0], x)
                for i, j in T.Parallel(tile, columns):
                    scaled[i, j] = T.if_then_else(step * tile + i < rows, x[i, j] * Scale[step * tile + i], 0.0)
                T.reduce_sum(scaled, sums, dim=0, clear=False)
                T.reduce_absmax(scaled, most, dim=0, clear=False)
            T.copy(sums, Sums)
            T.copy(most, Most)

    return main


@tilelang.jit
def middle_sums(shape, dim):
    rest = tuple(n for d, n in enumerate(shape) if d != dim)

    @T.prim_func
    def main(X: T.Tensor(shape, "float32"), Out: T.Tensor(rest, "float32")):
        with T.Kernel(1, threads=128):
            x, sums = T.alloc_fragment(shape, "float32"), T.alloc_fragment(rest, "float32")
            T.copy(X, x)
            T.reduce_sum(x, sums, dim=dim)
            T.copy(sums, Out)

    return main


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float16", "float32"])
@pytest.mark.parametrize("rows, columns, tile", [(70, 128, 64), (129, 64, 32), (300, 256, 16), (64, 32, 64), (257, 128, 128)])
def test_in_a_loop(device, rows, columns, tile, dtype):
    torch.manual_seed(rows)
    x = torch.randint(-8, 9, (rows, columns), device="cpu").float()
    scale = 2.0 ** torch.randint(-2, 3, (rows,), device="cpu")
    of_x = x.to(getattr(torch, dtype)).to(device)
    sums, most = (torch.full((columns,), float("nan"), device=device) for _ in range(2))
    column_sums(rows, columns, tile, dtype)(of_x, scale.to(device), sums, most)
    assert torch.equal(sums.cpu(), (x * scale[:, None]).sum(0))
    assert torch.equal(most.cpu(), (x * scale[:, None]).abs().amax(0))


SHAPES = [((6, 64, 32), 1), ((64, 6, 32), 0), ((3, 128, 64), 1), ((128, 128), 0), ((2, 3, 64, 8), 2), ((256, 5, 4), 0)]


@pytest.mark.parametrize("shape, dim", SHAPES, ids=str)
def test_of_more_dimensions(device, shape, dim):
    torch.manual_seed(dim)
    x = torch.randint(-9, 10, shape, device="cpu").float()
    out = torch.full([n for d, n in enumerate(shape) if d != dim], float("nan"), device=device)
    middle_sums(shape, dim)(x.to(device), out)
    assert torch.equal(out.cpu(), x.sum(dim))
