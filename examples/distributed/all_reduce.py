"""All-reduce by kernels that read and write their peers' buffers and wait for each other inside.

    torchrun --nproc-per-node 2 examples/distributed/all_reduce.py [--time]

One-shot: each process adds up all buffers. Two-shot: each adds up its part of all buffers and writes it to all of them. Both add
in the order of ranks: all get the same bits.
"""

import torch
import torch.distributed as dist
from peers import DEVICE, ON_GPU, TIMED, compare, randn, run, say, symmetric
from signals import flags, meet

from tilery import tileon
from tilery.tileon import language as tl

PROGRAMS = 128 if ON_GPU else 2  # that run at once
BLOCK = 4096


@tileon.jit
def total(buffers, i, n, out, WORLD: tl.constexpr):
    """Elements i of all buffers, of the type of `out`, added up in float32."""
    total = tl.zeros(i.shape, tl.float32)
    for rank in tl.static_range(WORLD):
        buffer = tl.multiple_of(tl.load(buffers + rank).to(out.dtype), 16)
        total += tl.load(buffer + i, mask=i < n, other=0).to(tl.float32)
    return total


@tileon.jit
def one_shot_kernel(buffers, flags, out, n, RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr):
    """buffers: addresses of WORLD buffers of n elements each, of the type of `out`."""
    program = tl.program_id(0)
    meet(flags, program, RANK, WORLD)  # all have written theirs
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        tl.store(out + i, total(buffers, i, n, out, WORLD).to(out.dtype.element_ty), mask=i < n)
    meet(flags, program, RANK, WORLD)  # all have read them


@tileon.jit
def two_shot_kernel(buffers, flags, own, n, part, RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr):
    """own: this process's buffer. Process r adds up elements r * part and those behind it."""
    program = tl.program_id(0)
    meet(flags, program, RANK, WORLD)
    for first in range(RANK * part + program * BLOCK, tl.minimum((RANK + 1) * part, n), tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        sums = total(buffers, i, n, own, WORLD).to(own.dtype.element_ty)
        for rank in tl.static_range(WORLD):
            tl.store(tl.multiple_of(tl.load(buffers + rank).to(own.dtype), 16) + i, sums, mask=i < n)
    meet(flags, program, RANK, WORLD)  # all parts are there


class AllReduce:
    """Sums of all processes' tensors of `n` elements. `buffers.own` is what each gives."""

    def __init__(self, n, dtype):
        self.n, self.rank, self.world = n, dist.get_rank(), dist.get_world_size()
        self.buffers, self.flags = symmetric(n, dtype=dtype), flags(PROGRAMS)
        self.sizes = {"RANK": self.rank, "WORLD": self.world, "BLOCK": BLOCK, "num_warps": 8}

    def one_shot(self, out):
        """out: the sum."""
        programs = min(tl.cdiv(self.n, BLOCK), PROGRAMS)
        one_shot_kernel[(programs,)](self.buffers.addresses, self.flags.addresses, out, self.n, **self.sizes)

    def two_shot(self):
        """In place of what each gave: the sum."""
        part = tl.cdiv(tl.cdiv(self.n, self.world), BLOCK) * BLOCK
        programs = min(part // BLOCK, PROGRAMS)
        two_shot_kernel[(programs,)](self.buffers.addresses, self.flags.addresses, self.buffers.own, self.n, part, **self.sizes)


def check(n, dtype):
    reduce, out = AllReduce(n, dtype), torch.empty(n, dtype=dtype, device=DEVICE)
    for step in range(3):
        parts = [randn(n, seed=10 * step + rank, dtype=dtype) for rank in range(reduce.world)]
        expected = parts[0].float()
        for part in parts[1:]:
            expected = expected + part.float()
        reduce.buffers.own.copy_(parts[reduce.rank])
        reduce.one_shot(out)
        assert torch.equal(out, expected.to(dtype)), f"rank {reduce.rank}, step {step}: one-shot"
        reduce.two_shot()
        assert torch.equal(reduce.buffers.own, expected.to(dtype)), f"rank {reduce.rank}, step {step}: two-shot"
    say(f"all-reduce of {n} {str(dtype).removeprefix('torch.')} on {reduce.world} processes agrees")


def measure(size, dtype=torch.bfloat16):
    reduce = AllReduce(size // 2, dtype)
    out = torch.empty_like(reduce.buffers.own)
    compare(f"one-shot all-reduce of {size >> 10} KiB", lambda: reduce.one_shot(out), lambda: dist.all_reduce(out))
    compare(f"two-shot all-reduce of {size >> 10} KiB", reduce.two_shot, lambda: dist.all_reduce(out))


def main():
    for n, dtype in ((1000, torch.float32), (1 << 15, torch.bfloat16), (100_003, torch.float32)):
        check(n, dtype)
    for size in (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 26) if TIMED else ():
        measure(size)


run(main)
