"""All-reduce by kernels that read and write their peers' buffers and wait for each other inside.

    torchrun --nproc-per-node 2 examples/distributed/all_reduce.py [--time]

One-shot, where little is added up: each process adds up all buffers. Two-shot: each adds up its part of all buffers and writes it
to all of them. Both add in the order of ranks: all get the same bits.
"""

import torch
import torch.distributed as dist
from peers import DEVICE, ON_GPU, TIMED, compare, randn, run, say, symmetric
from signals import Flags, meet

from tilery import tileon
from tilery.tileon import language as tl

PROGRAMS = 128 if ON_GPU else 2  # that run at once
BLOCK = 2048


@tileon.jit
def total(buffers, first, i, n, out, WORLD: tl.constexpr):
    """Elements first + i, where i < n, of all buffers, of the type of `out`, added up in float32."""
    total = tl.zeros(i.shape, tl.float32)
    for rank in tl.static_range(WORLD):
        buffer = tl.multiple_of(tl.load(buffers + rank).to(out.dtype), 16)
        total += tl.load(buffer + first + i, mask=i < n, other=0).to(tl.float32)
    return total


@tileon.jit
def one_shot_kernel(x, buffers, flags, turns, out, n, half, RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr):
    """out: the sum of all x of n elements. buffers: addresses of WORLD buffers of twice `half` elements of their type.

    Calls take one half and the other in turn, so that they meet once: who is in a call has left the one before."""
    program = tl.program_id(0)
    turn = tl.load(turns + program) + 1
    own = tl.multiple_of(tl.load(buffers + RANK).to(x.dtype), 16)
    place = turn % 2 * half
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        tl.store(own + place + i, tl.load(x + i, mask=i < n), mask=i < n)
    meet(flags, program, turn, RANK, WORLD)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        tl.store(out + i, total(buffers, place, i, n, out, WORLD).to(out.dtype.element_ty), mask=i < n)
    tl.store(turns + program, turn)


@tileon.jit
def two_shot_kernel(buffers, flags, turns, own, n, part, RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr):
    """own: this process's buffer. Process r adds up elements r * part and those behind it."""
    program = tl.program_id(0)
    turn = tl.load(turns + program)
    meet(flags, program, turn + 1, RANK, WORLD)  # all have written theirs
    for first in range(RANK * part + program * BLOCK, tl.minimum((RANK + 1) * part, n), tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        sums = total(buffers, 0, i, n, own, WORLD).to(own.dtype.element_ty)
        for rank in tl.static_range(WORLD):
            tl.store(tl.multiple_of(tl.load(buffers + rank).to(own.dtype), 16) + i, sums, mask=i < n)
    meet(flags, program, turn + 2, RANK, WORLD)  # all parts are there
    tl.store(turns + program, turn + 2)


class OneShot:
    """Sums of all processes' tensors of `n` elements."""

    def __init__(self, n, dtype):
        self.n, self.half, self.flags = n, tl.cdiv(n, BLOCK) * BLOCK, Flags(PROGRAMS)
        self.buffers = symmetric(2 * self.half, dtype=dtype)

    def __call__(self, x, out):
        """out: the sum of all x. It may be x."""
        one_shot_kernel[(min(tl.cdiv(self.n, BLOCK), PROGRAMS),)](
            x, self.buffers.addresses, self.flags.addresses, self.flags.turns, out, self.n, self.half, **sizes()
        )


class TwoShot:
    """Sums of all processes' tensors of `n` elements. `buffers.own` is what each gives."""

    def __init__(self, n, dtype):
        self.n, self.buffers, self.flags = n, symmetric(n, dtype=dtype), Flags(PROGRAMS)

    def __call__(self):
        """In place of what each gave: the sum."""
        part = tl.cdiv(tl.cdiv(self.n, dist.get_world_size()), BLOCK) * BLOCK
        two_shot_kernel[(min(part // BLOCK, PROGRAMS),)](
            self.buffers.addresses, self.flags.addresses, self.flags.turns, self.buffers.own, self.n, part, **sizes()
        )


def sizes():
    return {"RANK": dist.get_rank(), "WORLD": dist.get_world_size(), "BLOCK": BLOCK, "num_warps": 8}


def check(n, dtype):
    one_shot, two_shot = OneShot(n, dtype), TwoShot(n, dtype)
    rank, world = dist.get_rank(), dist.get_world_size()
    for step in range(5):
        parts = [randn(n, seed=10 * step + rank, dtype=dtype) for rank in range(world)]
        expected = parts[0].float()
        for part in parts[1:]:
            expected = expected + part.float()
        out = parts[rank] if step == 2 else torch.empty(n, dtype=dtype, device=DEVICE)
        two_shot.buffers.own.copy_(parts[rank])
        one_shot(parts[rank], out)
        assert torch.equal(out, expected.to(dtype)), f"rank {rank}, step {step}: one-shot"
        two_shot()
        assert torch.equal(two_shot.buffers.own, expected.to(dtype)), f"rank {rank}, step {step}: two-shot"
    say(f"all-reduce of {n} {str(dtype).removeprefix('torch.')} on {world} processes agrees")


def measure(size, dtype=torch.bfloat16):
    n = size // 2
    x, one_shot, two_shot = torch.zeros(n, dtype=dtype, device=DEVICE), OneShot(n, dtype), TwoShot(n, dtype)
    compare(f"one-shot all-reduce of {size >> 10} KiB", lambda: one_shot(x, x), lambda: dist.all_reduce(x))
    compare(f"two-shot all-reduce of {size >> 10} KiB", two_shot, lambda: dist.all_reduce(x))


def main():
    for n, dtype in ((1000, torch.float32), (1 << 15, torch.bfloat16), (100_003, torch.float32)):
        check(n, dtype)
    for size in (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 26) if TIMED else ():
        measure(size)


run(main)
