"""Matmul and reduce-scatter: each process has some columns of A and some rows of B; each gets some rows of A @ B.

    torchrun --nproc-per-node 2 examples/distributed/scattered_matmul.py [--time]

A product of rows that a peer gets is written to the peer's buffer. Of its own rows a process adds what came from the others to
the product. The kernels are NineToothed's.
"""

import torch
import torch.distributed as dist
from peers import DEVICE, ON_GPU, TIMED, bound, compare, divide, randn, run, say, symmetric

from tilery import ninetoothed
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl

BLOCK_M, BLOCK_N, BLOCK_K = (Symbol(f"BLOCK_{axis}", constexpr=True) for axis in "MNK")
BLOCKS = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}


def product_arrangement(lhs, rhs, output):
    output = output.tile((BLOCK_M, BLOCK_N))
    lhs = lhs.tile((BLOCK_M, BLOCK_K)).tile((1, -1)).expand((-1, output.shape[1]))
    lhs.dtype = lhs.dtype.squeeze(0)
    rhs = rhs.tile((BLOCK_K, BLOCK_N)).tile((-1, 1)).expand((output.shape[0], -1))
    rhs.dtype = rhs.dtype.squeeze(1)
    return lhs, rhs, output


def product_application(lhs, rhs, output):
    accumulator = ntl.zeros(output.shape, dtype=ntl.float32)
    for k in range(lhs.shape[0]):
        accumulator += ntl.dot(lhs[k], rhs[k])
    output = accumulator


def sum_arrangement(lhs, rhs, received, output):
    received = received.tile((1, BLOCK_M, BLOCK_N)).tile((-1, 1, 1)).squeeze(0)
    received.dtype = received.dtype.squeeze((1, 2))
    received.dtype.dtype = received.dtype.dtype.squeeze(0)
    lhs, rhs, output = product_arrangement(lhs, rhs, output)
    return lhs, rhs, received, output


def sum_application(lhs, rhs, received, output):
    accumulator = ntl.zeros(output.shape, dtype=ntl.float32)
    for k in range(lhs.shape[0]):
        accumulator += ntl.dot(lhs[k], rhs[k])
    for i in range(received.shape[0]):
        accumulator += ntl.cast(received[i], ntl.float32)
    output = accumulator


product = ninetoothed.make(product_arrangement, product_application, (Tensor(2), Tensor(2), Tensor(2)))
peers = Tensor(3, shape_options=({"constexpr": True}, {}, {}))  # how many there are, the code knows
product_and_sum = ninetoothed.make(sum_arrangement, sum_application, (Tensor(2), Tensor(2), peers, Tensor(2)))


def scattered_matmul(a, b, received, out):
    """received: in each process one matrix of the shape of `out` for each of its peers. out: this process's rows of the sum."""
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = a.chunk(world)
    received.wait()  # all have read what came before
    for step in range(1, world):
        peer = (rank + step) % world
        product(rows[peer], b, received.all[peer][step - 1], **BLOCKS)
    received.wait()  # all have written
    product_and_sum(rows[rank], b, received.own, out, **BLOCKS)


class Problem:
    def __init__(self, m, n, k, dtype):
        rank, world = dist.get_rank(), dist.get_world_size()
        divide(f"{m} rows", f"{k} columns")
        self.a, self.b = randn(m, k, seed=0, dtype=dtype), randn(k, n, seed=1, dtype=dtype)
        self.columns, self.rows = self.a.chunk(world, 1)[rank].contiguous(), self.b.chunk(world)[rank]
        self.received = symmetric(world - 1, m // world, n, dtype=dtype)
        self.out = torch.empty(m // world, n, dtype=dtype, device=DEVICE)

    def ours(self):
        scattered_matmul(self.columns, self.rows, self.received, self.out)


def check(m, n, k, dtype):
    problem, rank, world = Problem(m, n, k, dtype), dist.get_rank(), dist.get_world_size()
    rows = problem.a.chunk(world)[rank]
    exact = rows.double() @ problem.b.double()
    parts = [x.double() @ y.double() for x, y in zip(rows.chunk(world, 1), problem.b.chunk(world))]
    rounded = sum(part.abs() for part in parts) * torch.finfo(dtype).eps  # of what peers write
    for _ in range(2):
        problem.out.fill_(float("nan"))
        problem.ours()
        assert (problem.out.double() - exact).abs().le(bound(rows, problem.b, exact) + rounded).all(), f"rank {rank}"
    say(f"matmul and reduce-scatter of {m}x{n}x{k} {str(dtype).removeprefix('torch.')} agrees")


def measure(m, n, k, dtype=torch.bfloat16):
    problem = Problem(m, n, k, dtype)
    partial, out = torch.empty(m, n, dtype=dtype, device=DEVICE), torch.empty_like(problem.out)

    def backend(multiply):
        multiply()
        dist.reduce_scatter_tensor(out, partial)

    cublas = lambda: torch.mm(problem.columns, problem.rows, out=partial)
    kernel = lambda: product(problem.columns, problem.rows, partial, **BLOCKS)
    compare(f"matmul and reduce-scatter {m}x{n}x{k}", problem.ours, lambda: backend(cublas))
    compare("the same, behind our kernel", problem.ours, lambda: backend(kernel))


def main():
    check(96, 80, 64, torch.float16)
    check(256, 512, 128, torch.bfloat16)
    if TIMED:
        measure(*[8192 if ON_GPU else 1024] * 3)


run(main)
