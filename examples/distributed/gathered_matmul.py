"""All-gather and matmul: each process has some rows of A and some columns of B, and computes these columns of A @ B.

    torchrun --nproc-per-node 2 examples/distributed/gathered_matmul.py [--time]

The product of a process's own rows runs while those of its peers are on their way. The kernel is TileLang's; a tensor over a
peer's buffer is a tensor like others.
"""

import torch
import torch.distributed as dist
from peers import DEVICE, ON_GPU, TIMED, bound, compare, divide, fetched, randn, run, say, symmetric

from tilery import tilelang
from tilery.tilelang import language as T


@tilelang.jit
def matmul(M, N, K, dtype, block_M=128, block_N=256, block_K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_shared = T.alloc_shared((block_M, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.use_swizzle(panel_size=10)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=4):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C_shared)
            T.copy(C_shared, C[by * block_M, bx * block_N])

    return main


def gathered_matmul(rows, b, out):
    """rows: each process's rows of A, of any process's memory; out: all rows of A @ b."""
    m, k = rows.own.shape
    kernel = matmul(m, b.shape[1], k, str(b.dtype).removeprefix("torch."))
    rows.wait()  # all have written theirs
    for rank, theirs in fetched(rows):
        kernel(theirs, b, out[rank * m : (rank + 1) * m])
    rows.wait()  # all have read them


class Problem:
    def __init__(self, m, n, k, dtype):
        rank, world = dist.get_rank(), dist.get_world_size()
        divide(f"{m} rows", f"{n} columns")
        self.a, self.b = randn(m, k, seed=0, dtype=dtype), randn(k, n, seed=1, dtype=dtype).chunk(world, 1)[rank].contiguous()
        self.rows = symmetric(m // world, k, dtype=dtype)
        self.rows.own.copy_(self.a.chunk(world)[rank])
        self.out = torch.empty(m, n // world, dtype=dtype, device=DEVICE)

    def ours(self):
        gathered_matmul(self.rows, self.b, self.out)


def check(m, n, k, dtype):
    problem = Problem(m, n, k, dtype)
    for _ in range(2):
        problem.out.fill_(float("nan"))
        problem.ours()
        exact = problem.a.double() @ problem.b.double()
        assert (problem.out.double() - exact).abs().le(bound(problem.a, problem.b, exact)).all(), f"rank {dist.get_rank()}"
    say(f"all-gather and matmul of {m}x{n}x{k} {str(dtype).removeprefix('torch.')} agrees")


def measure(m, n, k, dtype=torch.bfloat16):
    problem = Problem(m, n, k, dtype)
    kernel = matmul(m, problem.b.shape[1], k, "bfloat16")
    gathered, out = torch.empty_like(problem.a), torch.empty_like(problem.out)

    def backend(product):
        dist.all_gather_into_tensor(gathered, problem.rows.own)
        product()

    compare(f"all-gather and matmul {m}x{n}x{k}", problem.ours, lambda: backend(lambda: torch.mm(gathered, problem.b, out=out)))
    compare("the same, then our kernel", problem.ours, lambda: backend(lambda: kernel(gathered, problem.b, out)))


def main():
    check(96, 80, 64, torch.float16)
    check(256, 512, 128, torch.bfloat16)
    if TIMED:
        measure(*[8192 if ON_GPU else 1024] * 3)


run(main)
