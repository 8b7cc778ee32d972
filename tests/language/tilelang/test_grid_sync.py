"""`T.sync_grid`: all blocks of a launch meet, and go on with what they had. By the oracle and by machine code."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.errors import Error
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts

N, BLOCK = 256, 64


def for_gpus(function):
    module = tilelang.compile(function).traced(usual_layouts(function.params)).module
    for target in ("sm_80", "sm_90a"):
        assert _native.compile(module, target=target, texts=True).asm


def mirrored(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, BLOCK), threads=64) as bx:
            other = T.alloc_fragment((BLOCK,), "float32")
            count = T.alloc_var("int32", init=4)
            for i in T.Parallel(BLOCK):
                A[bx * BLOCK + i] = bx * BLOCK + i
            T.sync_grid()
            for i in T.Parallel(BLOCK):
                other[i] = A[N - 1 - bx * BLOCK - i]
            count += bx
            T.sync_grid()
            for i in T.Parallel(BLOCK):
                A[bx * BLOCK + i] += other[i] + T.cast(count, "float32")

    return main


@pytest.mark.parametrize("size", [N, T.dynamic("n")])
def test_blocks_read_what_others_wrote(size, engine):
    function, a = mirrored(size), torch.zeros(N)
    tilelang.compile(function)(a)
    assert (a == N - 1 + 4 + torch.arange(N) // BLOCK).all()
    if engine == "native":
        a = torch.zeros(N)
        tilelang.compile(function)(a, debug=True)
        assert (a == N - 1 + 4 + torch.arange(N) // BLOCK).all()
    for_gpus(function)


def test_turns_of_a_loop_of_single_threads(engine):
    @T.prim_func
    def main(A: T.Tensor((2, 130), "float32"), S: T.Tensor((4,), "float32")):
        with T.Kernel(4, threads=32) as bx:
            tx = T.get_thread_binding()
            mine, total = T.alloc_local((2,), "float32"), T.alloc_shared((1,), "float32")
            if tx == 0:
                total[0] = 0
            mine[0] = 0
            at = bx * 32 + tx + 1
            for step in T.serial(6):
                A[(step + 1) % 2, at] = A[step % 2, at - 1] + A[step % 2, at + 1]
                mine[0] += A[(step + 1) % 2, at]
                T.sync_grid()
            T.atomic_add(total[0], mine[0])
            T.sync_threads()
            if tx == 0:
                S[bx] = total[0]

    a = torch.randint(-4, 5, (2, 130)).float()
    a[1, 0], a[1, -1] = a[0, 0], a[0, -1]
    row, right = a[0].clone(), torch.zeros(128)
    for _ in range(6):
        row[1:-1] = row[:-2] + row[2:]
        right += row[1:-1]
    sums = torch.empty(4)
    tilelang.compile(main)(a, sums)
    assert (a[0] == row).all() and (sums == right.view(4, 32).sum(1)).all()
    for_gpus(main)


def test_product_over_rows_that_all_blocks_normalise(engine):
    @T.prim_func
    def main(X: T.Tensor((64, 32), "float16"), W: T.Tensor((32, 48), "float16"), Y: T.Tensor((64, 48), "float32")):
        with T.Kernel(4, threads=128) as b:
            rows, weights = T.alloc_shared((16, 32), "float16"), T.alloc_shared((32, 48), "float16")
            acc = T.alloc_fragment((16, 48), "float32")
            T.clear(acc)
            T.copy(W, weights)
            T.copy(X[b * 16, 0], rows)
            T.gemm(rows, weights, acc)
            T.copy(acc, Y[b * 16, 0])
            T.sync_grid()
            for i, j in T.Parallel(16, 48):
                acc[i, j] -= Y[63 - b * 16 - i, j]
            T.sync_grid()
            T.copy(acc, Y[b * 16, 0])

    x, w = torch.randint(-4, 5, (64, 32)).half(), torch.randint(-4, 5, (32, 48)).half()
    out = torch.empty(64, 48)
    tilelang.compile(main)(x, w, out)
    right = x.float() @ w.float()
    assert (out == right - right.flip(0)).all()
    for_gpus(main)



def test_what_cannot_meet():
    def value(A: T.Tensor((8,), "float32")):
        with T.Kernel(2, threads=32) as b:
            x = A[b]
            T.sync_grid()
            A[b] = x

    def branch(A: T.Tensor((8,), "float32"), n: T.int32):
        with T.Kernel(2, threads=32) as b:
            if n > 3:
                T.sync_grid()
            A[b] = 1

    def loop(A: T.Tensor((8,), "float32"), n: T.int32):
        with T.Kernel(2, threads=32) as b:
            for _ in T.serial(n):
                T.sync_grid()
            A[b] = 1

    def role(A: T.Tensor((8,), "float32")):
        with T.Kernel(2, threads=256) as b:
            with T.ws(1):
                T.sync_grid()
            A[b] = 1

    def parallel(A: T.Tensor((8,), "float32")):
        with T.Kernel(2, threads=32):
            for i in T.Parallel(8):
                T.sync_grid()
                A[i] = 1

    for function, message, kind in (
        (value, "what is computed here is used after all blocks have met", NotImplementedError),
        (branch, "T.sync_grid under a condition of the run", NotImplementedError),
        (loop, "all blocks meet in a loop whose number of turns is known at run time only", NotImplementedError),
        (role, "T.sync_grid in a role of warp groups", ValueError),
        (parallel, "T.sync_grid inside a T.Parallel loop", ValueError),
    ):
        with pytest.raises(kind, match=message) as caught:
            T.prim_func(function)
        assert isinstance(caught.value, Error)
