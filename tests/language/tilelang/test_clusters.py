"""Blocks of a cluster that write to each other's shared memory and wait for each other. By the oracle and by machine code."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.errors import Error
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts


def run(function, *arguments):
    """Runs a program, and compiles it for GPUs."""
    kernel = tilelang.compile(function)
    kernel(*arguments)
    for target in ("sm_80", "sm_90a"):
        assert _native.compile(kernel.traced(usual_layouts(function.params)).module, target=target, texts=True).asm


def test_barrier_of_the_first_block(engine):
    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
        with T.ClusterKernel(4, threads=128, cluster_dims=2) as bx:
            bar = T.alloc_cluster_barrier([256])
            T.cluster_sync()
            A[bx] = bx + 1
            T.mbarrier_arrive(bar, 0)
            if T.block_rank_in_cluster() == 0:
                T.mbarrier_wait_parity(bar, 0)
                B[bx] = A[bx + 1]
            T.cluster_sync()

    a, b = torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    run(main, a, b)
    assert b.tolist() == [2, 0, 4, 0]


@pytest.mark.parametrize("dims", [(2, 1, 1), (1, 2, 1)])
def test_halves_of_a_sum_go_to_the_first_block(dims, engine):
    grid = (4, 1) if dims[0] == 2 else (2, 2)

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 48), "float16"), C: T.Tensor((64, 48), "float32")):
        with T.ClusterKernel(*grid, threads=128, cluster_dims=dims) as (bx, by):
            rank = T.block_rank_in_cluster()
            row = bx // 2 * 32 if dims[0] == 2 else bx * 32
            a, b = T.alloc_shared((32, 32), "float16"), T.alloc_shared((32, 48), "float16")
            acc, mine = T.alloc_fragment((32, 48), "float32"), T.alloc_shared((32, 48), "float32")
            theirs, bar = T.alloc_shared((32, 48), "float32"), T.alloc_cluster_barrier([1])
            T.cluster_sync()
            T.clear(acc)
            T.copy(A[row, rank * 32], a)
            T.copy(B[rank * 32, 0], b)
            T.gemm(a, b, acc)
            if rank == 1:
                T.copy(acc, mine)
                T.copy_cluster(mine, theirs, dst_block=0, remote_barrier=bar[0])
            else:
                T.mbarrier_wait_parity(bar[0], 0)
                for i, j in T.Parallel(32, 48):
                    acc[i, j] += theirs[i, j]
                T.copy(acc, C[row, 0])
            T.cluster_sync()

    a, b = torch.randint(-4, 5, (64, 64)).half(), torch.randint(-4, 5, (64, 48)).half()
    c = torch.empty(64, 48)
    run(main, a, b, c)
    assert (c == a.float() @ b.float()).all()


def test_rows_go_around_a_cluster(engine):
    @T.prim_func
    def main(A: T.Tensor((8, 32), "int32"), B: T.Tensor((8, 32), "int32")):
        with T.ClusterKernel(8, threads=32, cluster_dims=(4, 1, 1)) as bx:
            rank = T.block_rank_in_cluster()
            row, sum_, rows = T.alloc_shared((32,), "int32"), T.alloc_fragment((32,), "int32"), T.alloc_shared((4, 32), "int32")
            T.copy(A[bx, 0:32], row)
            T.clear(sum_)
            T.cluster_sync()
            for step in T.serial(4):
                T.copy_cluster(row, rows[rank, 0:32], dst_block=(rank + step) % 4)
                T.cluster_sync()
            for i, j in T.Parallel(4, 32):
                T.atomic_add(sum_[j], rows[i, j] * (i + 1))
            T.copy(sum_, B[bx, 0:32])

    a, b = torch.randint(-9, 9, (8, 32), dtype=torch.int32), torch.empty(8, 32, dtype=torch.int32)
    run(main, a, b)
    right = (a.view(2, 4, 32) * torch.arange(1, 5)[:, None]).sum(1, keepdim=True).expand(2, 4, 32).reshape(8, 32)
    assert (b == right).all()


def test_what_blocks_cannot_send():
    def late(A: T.Tensor((2, 32), "int32")):
        with T.ClusterKernel(2, threads=32, cluster_dims=2) as bx:
            row = T.alloc_shared((32,), "int32")
            T.copy(A[bx, 0:32], row)
            T.cluster_sync()
            T.copy_cluster(row, row, dst_block=0)

    def before(A: T.Tensor((2, 32), "int32")):
        with T.ClusterKernel(2, threads=32, cluster_dims=2):
            bar = T.alloc_cluster_barrier([1])
            T.cluster_sync()
            if T.block_rank_in_cluster() == 0:
                T.mbarrier_wait_parity(bar, 0)
            else:
                A[0, 0] = 1
                T.mbarrier_arrive(bar, 0)
            T.cluster_sync()

    def block(A: T.Tensor((2, 32), "int32")):
        with T.ClusterKernel(2, threads=32, cluster_dims=2):
            row = T.alloc_shared((32,), "int32")
            T.copy_cluster(row, row, dst_block=2)

    def own(A: T.Tensor((2, 32), "int32")):
        with T.ClusterKernel(2, threads=32, cluster_dims=2):
            T.mbarrier_arrive(T.alloc_barrier(1), 0)

    for function, kind, message in (
        (late, NotImplementedError, "a copy into another block that nobody waits for after it"),
        (before, NotImplementedError, "stands before what it waits for"),
        (block, ValueError, "dst_block 2 is no block of a cluster of 2"),
        (own, ValueError, "T.mbarrier_arrive at a barrier of another block"),
    ):
        with pytest.raises(kind, match=message) as caught:
            T.prim_func(function)
        assert isinstance(caught.value, Error)
