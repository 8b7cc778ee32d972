"""Fragments whose elements are numbers that each thread has for itself: indices that it prefetches, sums of its own."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


@tilelang.jit
def prefetched(n, steps, roles):
    @T.prim_func
    def main(Table: T.Tensor((steps, 2, 64), "int32"), A: T.Tensor((n,), "float32"), Out: T.Tensor((steps, 2, 64), "float32")):
        with T.Kernel(1, threads=128 if roles else 64):
            tx = T.get_thread_binding()
            if tx < 64:
                at = T.alloc_fragment((2,), "int32")
                total = T.alloc_fragment((1,), "float32")
                total[0] = 0.0
                for r in T.serial(2):
                    at[r] = Table[0, r, tx]
                for step in T.serial(steps):
                    for r in T.serial(2):
                        total[0] += A[at[r]]
                        Out[step, r, tx] = total[0]
                    if step + 1 < steps:
                        for r in T.serial(2):
                            at[r] = Table[step + 1, r, tx]

    return main


@pytest.mark.parametrize("roles", [False, True])
@pytest.mark.parametrize("steps", [1, 4])
def test_prefetched(device, steps, roles):
    n, g = 300, torch.Generator().manual_seed(steps)
    table = torch.randint(0, n, (steps, 2, 64), generator=g, dtype=torch.int32, device="cpu")
    a = torch.randint(-9, 10, (n,), generator=g, device="cpu").float()
    out = torch.full((steps, 2, 64), float("nan"), device=device)
    prefetched(n, steps, roles)(table.to(device), a.to(device), out)
    expected = a[table.long()].reshape(2 * steps, 64).cumsum(0).reshape(steps, 2, 64)
    assert torch.equal(out.cpu(), expected)


@tilelang.jit
def shared_by_all():
    """What all threads say alike, and see as one tile, stays one."""

    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), Out: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=128):
            tx = T.get_thread_binding()
            four = T.alloc_fragment((4,), "float32")
            for i in T.serial(4):
                four[i] = A[i] * 2
            if tx == 0:
                A[0] = 7
            T.copy(four, Out)

    return main


def test_shared_by_all(device):
    a, out = torch.randn(128, device="cpu"), torch.full((4,), float("nan"), device=device)
    shared_by_all()(a.clone().to(device), out)
    assert torch.equal(out.cpu(), a[:4] * 2)
