"""Matrix times vector, written for threads as a guide to the language develops it: one row a thread, rows shared by threads, wide
loads, reductions over threads. Exact: sums of small integers."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")


def row_a_thread(N, K, BLOCK_N, BLOCK_K):
    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float16")):
        with T.Kernel(T.ceildiv(N, BLOCK_N), threads=BLOCK_N) as bn:
            tn = T.get_thread_binding(0)
            a = T.alloc_shared((BLOCK_K,), "float16")
            b = T.alloc_shared((BLOCK_N, BLOCK_K), "float16")
            total = T.alloc_local((1,), "float32")
            T.clear(total)
            for bk in T.serial(T.ceildiv(K, BLOCK_K)):
                for tk in T.serial(BLOCK_K):
                    a[tk] = A[bk * BLOCK_K + tk]
                    b[tn, tk] = B[bn * BLOCK_N + tn, bk * BLOCK_K + tk]
                for tk in T.serial(BLOCK_K):
                    total[0] += a[tk].astype("float32") * b[tn, tk].astype("float32")
            C[bn * BLOCK_N + tn] = total[0]

    return main


def row_shared_by_threads(N, K, BLOCK_N, BLOCK_K, reduce_threads):
    """Parts of a row are added up in shared memory."""
    own = BLOCK_K // reduce_threads

    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float16")):
        with T.Kernel(T.ceildiv(N, BLOCK_N), threads=(BLOCK_N, reduce_threads)) as bn:
            tn, tk = T.get_thread_binding(0), T.get_thread_binding(1)
            a, b = T.alloc_local((own,), "float16"), T.alloc_local((own,), "float16")
            sums = T.alloc_shared((BLOCK_N,), "float32")
            part = T.alloc_local((1,), "float32")
            if tk == 0:
                sums[tn] = 0
            T.clear(part)
            for bk in T.serial(T.ceildiv(K, BLOCK_K)):
                for k in T.serial(own):
                    a[k] = A[bk * BLOCK_K + tk * own + k]
                    b[k] = B[bn * BLOCK_N + tn, bk * BLOCK_K + tk * own + k]
                for k in T.serial(own):
                    part[0] += a[k].astype("float32") * b[k].astype("float32")
            T.atomic_add(sums[tn], part[0])
            C[bn * BLOCK_N + tn] = sums[tn]

    return main


def wide_loads(N, K, BLOCK_N, reduce_threads):
    own = 128 // 16
    BLOCK_K = reduce_threads * own

    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float16")):
        with T.Kernel(T.ceildiv(N, BLOCK_N), threads=(BLOCK_N, reduce_threads)) as bn:
            tn, tk = T.get_thread_binding(0), T.get_thread_binding(1)
            a, b = T.alloc_local((own,), "float16"), T.alloc_local((own,), "float16")
            sums = T.alloc_shared((BLOCK_N,), "float32")
            part = T.alloc_local((1,), "float32")
            if tk == 0:
                sums[tn] = 0
            T.clear(part)
            for bk in T.serial(T.ceildiv(K, BLOCK_K)):
                for k in T.vectorized(own):
                    a[k] = A[bk * BLOCK_K + tk * own + k]
                    b[k] = B[bn * BLOCK_N + tn, bk * BLOCK_K + tk * own + k]
                for k in T.serial(own):
                    part[0] += a[k].astype("float32") * b[k].astype("float32")
            T.atomic_add(sums[tn], part[0])
            C[bn * BLOCK_N + tn] = sums[tn]

    return main


def reduction_over_threads(N, K, BLOCK_N, reduce_threads):
    own = 128 // 16
    BLOCK_K = reduce_threads * own

    @T.prim_func
    def main(A: T.Tensor((K,), "float16"), B: T.Tensor((N, K), "float16"), C: T.Tensor((N,), "float16")):
        with T.Kernel(T.ceildiv(N, BLOCK_N), threads=(BLOCK_N, reduce_threads)) as bn:
            tn, tk = T.get_thread_binding(0), T.get_thread_binding(1)
            a, b = T.alloc_local((own,), "float16"), T.alloc_local((own,), "float16")
            part, total = T.alloc_local((1,), "float32"), T.alloc_local((1,), "float32")
            T.clear(part)
            for bk in T.serial(T.ceildiv(K, BLOCK_K)):
                for k in T.vectorized(own):
                    a[k] = A[bk * BLOCK_K + tk * own + k]
                    b[k] = B[bn * BLOCK_N + tn, bk * BLOCK_K + tk * own + k]
                for k in T.serial(own):
                    part[0] += a[k].astype("float32") * b[k].astype("float32")
            handle = T.reinterpret(T.uint64(0), dtype="handle")
            with T.attr(T.comm_reducer(lambda x, y: x + y, [T.Cast("float32", 0)]), "reduce_scope", handle):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), part[0], True, total[0], tk, dtype="handle"))
            C[bn * BLOCK_N + tn] = total[0]

    return main


PROGRAMS = {
    "a row a thread": (row_a_thread, 64, 96, 16, 32),
    "threads of no whole warp": (row_a_thread, 60, 96, 20, 16),
    "a row shared by threads": (row_shared_by_threads, 64, 256, 8, 64, 16),
    "one element a thread": (row_shared_by_threads, 32, 64, 4, 32, 32),
    "wide loads": (wide_loads, 64, 512, 2, 32),
    "a reduction over threads": (reduction_over_threads, 64, 512, 4, 32),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gemv(name):
    program, n, k, *sizes = PROGRAMS[name]
    a, b = torch.randint(-3, 4, (k,)).half(), torch.randint(-3, 4, (n, k)).half()
    c = torch.zeros(n, dtype=torch.float16)
    tilelang.compile(program(n, k, *sizes))(a, b, c)
    assert torch.equal(c.double(), b.double() @ a.double())
