"""Atomic updates of buffers and slices of one element: each thread's where they depend on the thread, else the block's."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def _run(body, *tensors, grid=1):
    @T.prim_func
    def main(A: T.Tensor((128,), "int32"), out: T.Tensor((1,), "int32"), P: T.Tensor((4, 1), "int32")):
        with T.Kernel(grid, threads=128) as bx:
            body(A, out, P, bx)

    tilelang.compile(main)(*tensors)


@T.macro
def whole_buffer(A, out, P, bx):
    T.atomic_add(out, A[T.get_thread_binding()])


@T.macro
def slice_of_one(A, out, P, bx):
    tx = T.get_thread_binding()
    T.atomic_add(out[0:1], A[tx : tx + 1])


@T.macro
def computed(A, out, P, bx):
    tx = T.get_thread_binding()
    value = A[tx] * 2 - A[0]
    T.atomic_add(out, value)


@T.macro
def local_number(A, out, P, bx):
    tx = T.get_thread_binding()
    own = T.alloc_local((2,), "int32")
    own[1] = A[tx]
    T.atomic_add(out, own[1])


@T.macro
def local_variable(A, out, P, bx):
    tx = T.get_thread_binding()
    own = T.alloc_var("int32")
    own = A[tx]
    T.atomic_add(out, own)


@T.macro
def bound_thread(A, out, P, bx):
    for tx in T.thread_binding(128, "threadIdx.x"):
        T.atomic_add(out, A[tx])


@T.macro
def some_threads(A, out, P, bx):
    tx = T.get_thread_binding()
    if tx % 4 < 2:
        T.atomic_add(out, A[tx] * 2)


@T.macro
def other_lane(A, out, P, bx):
    T.atomic_add(out, T.shfl_xor(A[T.get_thread_binding()], 1))


@pytest.mark.parametrize(
    "body", [whole_buffer, slice_of_one, computed, local_number, local_variable, bound_thread, some_threads, other_lane]
)
def test_each_thread_adds(engine, body):
    out = torch.zeros(1, dtype=torch.int32)
    _run(body, torch.ones(128, dtype=torch.int32), out, torch.zeros(4, 1, dtype=torch.int32))
    assert out.item() == 128


@T.macro
def number(A, out, P, bx):
    T.atomic_add(out, 3)
    T.atomic_add(P[bx : bx + 1, :], 3)


@T.macro
def element(A, out, P, bx):
    T.atomic_add(out, A[bx] * 3)
    T.atomic_add(P[bx, :], A[bx] + 2)


@T.macro
def beside_threads(A, out, P, bx):
    tx = T.get_thread_binding()
    A[tx] = 1
    T.sync_threads()
    T.atomic_add(out, 3)
    T.atomic_add(P[bx, 0:1], A[5] + 2)


@pytest.mark.parametrize("body", [number, element, beside_threads])
def test_the_block_adds_once(engine, body):
    out, places = torch.zeros(1, dtype=torch.int32), torch.zeros(4, 1, dtype=torch.int32)
    _run(body, torch.ones(128, dtype=torch.int32), out, places, grid=4)
    assert out.item() == 12 and places.flatten().tolist() == [3] * 4


def test_places_of_threads(engine):
    @T.macro
    def body(A, out, P, bx):
        tx = T.get_thread_binding()
        warp = tx // 32
        T.atomic_add(P[warp : warp + 1, 0:1], 2)
        T.atomic_max(out, tx * A[0])

    out, places = torch.zeros(1, dtype=torch.int32), torch.zeros(4, 1, dtype=torch.int32)
    _run(body, torch.ones(128, dtype=torch.int32), out, places)
    assert out.item() == 127 and places.flatten().tolist() == [64] * 4
