"""Attention over a sequence of which each process has a part: queries stay, keys and values come by.

    torchrun --nproc-per-node 2 examples/distributed/sharded_attention.py [--time]

A process attends to its own keys while those of its peers are on their way, and to each part as it arrives (by the kernel of
examples/tileon). What it gets are averages over parts of the keys; a kernel of NineToothed puts them together, by the sums of
weights, whose logarithms attention gives, too.
"""

from pathlib import Path

import torch
import torch.distributed as dist
from peers import DEVICE, ON_GPU, TIMED, compare, divide, fetched, randn, run, say, symmetric

from tilery import compat, ninetoothed
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl

attention = compat.load(Path(__file__).parents[1] / "tileon" / "attention.py").attention
ROWS = Symbol("ROWS", constexpr=True)


def arrangement(parts, logs, output):
    parts = parts.tile((1, ROWS, -1)).tile((-1, 1, 1)).squeeze((0, 2))
    parts.dtype = parts.dtype.squeeze((1, 2))
    parts.dtype.dtype = parts.dtype.dtype.squeeze(0)
    logs = logs.tile((1, ROWS)).tile((-1, 1)).squeeze(0)
    logs.dtype = logs.dtype.squeeze(1)
    logs.dtype.dtype = logs.dtype.dtype.squeeze(0)
    return parts, logs, output.tile((ROWS, -1)).squeeze(1)


def application(parts, logs, output):
    top = logs[0]
    for i in range(1, logs.shape[0]):
        top = ntl.maximum(top, logs[i])
    weight = ntl.exp2(logs[0] - top)
    total = weight
    average = parts[0] * weight[:, None]
    for i in range(1, logs.shape[0]):
        weight = ntl.exp2(logs[i] - top)
        total += weight
        average += parts[i] * weight[:, None]
    output = average / total[:, None]


known = {"constexpr": True}  # numbers that the code knows: of parts, and of columns
PARTS, LOGS = Tensor(3, shape_options=(known, {}, known)), Tensor(2, shape_options=(known, {}))
merge = ninetoothed.make(arrangement, application, (PARTS, LOGS, Tensor(2, shape_options=({}, known))))


def over_parts(q, parts, out, causal):
    """parts: (rank, keys and values) of the processes whose keys q attends to."""
    rank, logs = dist.get_rank(), []
    results = torch.empty(rank + 1 if causal else dist.get_world_size(), *q.shape, device=q.device)
    for r, (k, v) in parts:
        if not causal or r <= rank:
            logs.append(attention(q, k, v, results[len(logs)], causal and r == rank))
    merge(results.flatten(1, 3), torch.stack(logs).flatten(1), out.flatten(0, 2), ROWS=16)


def sharded_attention(q, keys, out, causal=False):
    """q: [batches, heads, rows, columns], the rows of this process's part of the sequence; keys: each process's keys and values;
    out: like q."""
    keys.wait()  # all have written theirs
    over_parts(q, fetched(keys), out, causal)
    keys.wait()  # all have read them


class Problem:
    def __init__(self, shape, dtype):
        """shape: of the whole sequence."""
        rank, world = dist.get_rank(), dist.get_world_size()
        divide(f"{shape[2]} rows")
        self.qkv = randn(3, *shape, seed=0, dtype=dtype)
        self.q, k, v = self.qkv.chunk(world, 3)[rank].contiguous()
        self.keys = symmetric(2, *k.shape, dtype=dtype)
        self.keys.own.copy_(torch.stack([k, v]))
        self.out = torch.empty_like(self.q)


def check(shape, dtype, causal):
    problem = Problem(shape, dtype)
    exact = torch.nn.functional.scaled_dot_product_attention(*problem.qkv.double(), is_causal=causal)
    exact = exact.chunk(dist.get_world_size(), 2)[dist.get_rank()]
    for _ in range(2):
        problem.out.fill_(float("nan"))
        sharded_attention(problem.q, problem.keys, problem.out, causal)
        rounded = 2 * torch.finfo(dtype).eps if dtype.itemsize < 4 else 1e-5  # weights and results
        torch.testing.assert_close(problem.out.double(), exact, rtol=rounded, atol=rounded)
    say(f"attention over a sharded sequence of {shape[2]} {str(dtype).removeprefix('torch.')}, causal {causal}, agrees")


def measure(shape, dtype=torch.bfloat16):
    problem, world = Problem(shape, dtype), dist.get_world_size()
    gathered, out = torch.empty(world, *problem.keys.own.shape, dtype=dtype, device=DEVICE), torch.empty_like(problem.out)

    def backend():
        dist.all_gather_into_tensor(gathered.flatten(0, 1), problem.keys.own)
        over_parts(problem.q, enumerate(gathered), out, False)

    ours = lambda: sharded_attention(problem.q, problem.keys, problem.out)
    compare(f"attention over a sharded sequence {tuple(shape)}, beside gathering, then our kernels", ours, backend)


def main():
    check((1, 2, 512, 64), torch.float32, False)
    check((1, 1, 512, 64), torch.bfloat16, True)
    if TIMED:
        measure((1, 16, 16384, 128) if ON_GPU else (1, 2, 2048, 64))


run(main)
