"""Threads that end early, and what each of them stores in a fragment of the block."""

from typing import Any, NamedTuple

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")


@tilelang.jit
def returning(n, written):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as b:
            i = b * 64 + T.get_thread_binding()
            if i >= n:
                if written:
                    return
                else:
                    T.thread_return()
            x = T.alloc_local((4,), "float32")
            if A[i] < 0:
                B[i] = -1.0
                T.thread_return()
            for k in T.unroll(4):
                x[k] = A[i] * k
            B[i] = x[3]
            if A[i] > 1:
                C[i] = 7.0
                T.thread_return()
            C[i] = x[1]

    return main


@pytest.mark.parametrize("written", [False, True])
def test_threads_end(device, written):
    n = 100
    a = torch.randn(n, generator=torch.Generator().manual_seed(2), device="cpu")
    b, c = torch.zeros(n, device=device), torch.zeros(n, device=device)
    returning(n, written)(a.to(device), b, c)
    assert torch.equal(b.cpu(), torch.where(a < 0, -1.0, a * 3))
    assert torch.equal(c.cpu(), torch.where(a < 0, 0.0, torch.where(a > 1, 7.0, a)))


class Parts(NamedTuple):
    own: Any
    rows: int


@tilelang.jit
def row_sums(n):
    """Each thread stores its sum at its place of a fragment, whose rows are then summed by all."""

    def parts():
        return Parts(own=T.alloc_fragment((4, 32), "float32"), rows=4)

    @T.prim_func
    def main(A: T.Tensor((n, 4, 64), "float32"), Out: T.Tensor((n, 4), "float32")):
        with T.Kernel(n, threads=128) as b:
            tx = T.get_thread_binding()
            row, lane = tx // 32, tx % 32
            held = parts()
            sums = T.alloc_fragment((4,), "float32")
            held.own[row, lane] = A[b, row, lane] + A[b, row, lane + 32]
            T.reduce_sum(held.own, sums, dim=1)
            T.copy(sums, Out[b, :])

    return main


def test_fragments_by_thread(device):
    a = torch.randint(-8, 9, (3, 4, 64), generator=torch.Generator().manual_seed(4), device="cpu").float()
    out = torch.full((3, 4), float("nan"), device=device)
    row_sums(3)(a.to(device), out)
    assert torch.equal(out.cpu(), a.sum(-1))
