"""What each thread has, allocated in front of roles: a role that changes it changes its own."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def launched(kernel, *shapes, device):
    outputs = [torch.full(shape, float("nan"), device=device) for shape in shapes]
    tilelang.compile(kernel)(*outputs)
    return outputs


@T.prim_func
def variable(Y: T.Tensor((2, 128), "float32")):
    with T.Kernel(1, threads=256):
        n = T.alloc_var("int32", init=1)
        done = T.alloc_barrier([128])
        with T.ws(0):
            n = 5
            for i in T.Parallel(128):
                Y[0, i] = n
            T.barrier_arrive(done[0])
        with T.ws(1):
            T.barrier_wait(done[0], 0)
            for i in T.Parallel(128):
                Y[1, i] = n


@T.prim_func
def local_buffer(Y: T.Tensor((2, 128), "float32")):
    with T.Kernel(1, threads=256):
        n = T.alloc_local((2,), "int32")
        done = T.alloc_barrier([128])
        n[0] = 1
        n[1] = 7
        with T.ws(1):
            n[0] = n[0] - n[1] + 6
            T.barrier_arrive(done[0])
            for i in T.Parallel(128):
                Y[1, i] = n[0] + 1
        with T.ws(0):
            T.barrier_wait(done[0], 0)
            n[0] = n[0] + n[1] - 3
            for i in T.Parallel(128):
                Y[0, i] = n[0]


@T.prim_func
def branches(Y: T.Tensor((2, 128), "float32")):
    with T.Kernel(1, threads=256):
        n = T.alloc_var("int32", init=1)
        tx = T.get_thread_binding()
        for k in T.serial(4):
            if tx < 128:
                n = n + 1
            else:
                for i in T.Parallel(128):
                    Y[1, i] = n
        if tx < 128:
            for i in T.Parallel(128):
                Y[0, i] = n


@pytest.mark.parametrize("kernel", [variable, local_buffer, branches], ids=lambda kernel: kernel.__name__)
def test_roles_change_their_own(device, kernel):
    (y,) = launched(kernel, (2, 128), device=device)
    assert y.unique(dim=1).tolist() == [[5.0], [1.0]]


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_each_role_counts_its_phase(device, steps, local):
    @T.prim_func
    def pipeline(X: T.Tensor((steps, 128), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            S = T.alloc_shared((2, 128), "float32")
            full, empty = T.alloc_barrier([128] * 2), T.alloc_barrier([128] * 2)
            acc = T.alloc_fragment((128,), "float32")
            state = T.alloc_local((2,), "int32")  # slot and phase
            state[0] = 0
            state[1] = 0
            with T.ws(0):
                for k in T.serial(steps):
                    T.barrier_wait(empty[state[0]], state[1] ^ 1)
                    T.copy(X[k, :], S[state[0], :])
                    T.barrier_arrive(full[state[0]])
                    state[0] = state[0] + 1
                    if state[0] == 2:
                        state[0] = 0
                        state[1] = state[1] ^ 1
            with T.ws(1):
                T.clear(acc)
                for k in T.serial(steps):
                    T.barrier_wait(full[state[0]], state[1])
                    for i in T.Parallel(128):
                        acc[i] += S[state[0], i]
                    T.barrier_arrive(empty[state[0]])
                    state[0] = state[0] + 1
                    if state[0] == 2:
                        state[0] = 0
                        state[1] = state[1] ^ 1
                T.copy(acc, Y)

    @T.prim_func
    def one_slot(X: T.Tensor((steps, 128), "float32"), Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            S = T.alloc_shared((128,), "float32")
            full, empty = T.alloc_barrier([128]), T.alloc_barrier([128])
            acc = T.alloc_fragment((128,), "float32")
            phase = T.alloc_var("int32", init=0)
            with T.ws(0):
                for k in T.serial(steps):
                    T.barrier_wait(empty[0], phase ^ 1)
                    T.copy(X[k, :], S)
                    T.barrier_arrive(full[0])
                    phase = phase ^ 1
            with T.ws(1):
                T.clear(acc)
                for k in T.serial(steps):
                    T.barrier_wait(full[0], phase)
                    for i in T.Parallel(128):
                        acc[i] += S[i]
                    T.barrier_arrive(empty[0])
                    phase = 1 - phase
                T.copy(acc, Y)

    x = torch.randint(-9, 9, (steps, 128), device=device).float()
    y = torch.full((128,), float("nan"), device=device)
    tilelang.compile(pipeline if local else one_slot)(x, y)
    assert torch.equal(y, x.sum(0))


@T.prim_func
def fragment(Y: T.Tensor((2, 128), "float32")):
    with T.Kernel(1, threads=256):
        acc = T.alloc_fragment((128,), "float32")
        left, right = T.alloc_barrier([128]), T.alloc_barrier([128])
        for r in T.serial(2):
            T.fill(acc, r + 0.5)
            with T.ws(0):
                for k in T.serial(4):
                    T.barrier_wait(left[0], (k + 1) % 2)
                    for i in T.Parallel(128):
                        acc[i] += 1.0
                    T.barrier_arrive(right[0])
                T.copy(acc, Y[0, :])
            with T.ws(1):
                for k in T.serial(4):
                    T.barrier_wait(right[0], k % 2)
                    for i in T.Parallel(128):
                        acc[i] += 10.0
                    T.barrier_arrive(left[0])
                T.copy(acc, Y[1, :])


def test_fragments_of_roles(device):
    (y,) = launched(fragment, (2, 128), device=device)
    assert y.unique(dim=1).tolist() == [[5.5], [41.5]]
