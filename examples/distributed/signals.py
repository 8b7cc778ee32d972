"""Programs of several processes that wait for each other inside of a kernel."""

import torch
import torch.distributed as dist
from peers import DEVICE, symmetric

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def meet(flags, slot, turn, RANK: tl.constexpr, WORLD: tl.constexpr):
    """All processes' programs of this slot wait for each other: what each wrote to its own or others' memory before, all see
    afterwards. `flags`: addresses of each process's WORLD int32 a slot, zeros at first. `turn`: how often this slot meets, with
    this time, the same number in all processes.

    All programs of a launch that meet must run at once, or each before those of higher slots."""
    for step in tl.static_range(1, WORLD):
        theirs = tl.load(flags + (RANK + step) % WORLD).to(tl.pointer_type(tl.int32))
        tl.atomic_xchg(theirs + slot * WORLD + RANK, turn, sem="release", scope="sys")
    own = tl.load(flags + RANK).to(tl.pointer_type(tl.int32))
    for step in tl.static_range(1, WORLD):
        while tl.load(own + slot * WORLD + (RANK + step) % WORLD, volatile=True) < turn:  # it may be ahead
            pass


class Flags:
    """What `meet` takes: `addresses`, and `turns`, in which a kernel keeps how often its programs met."""

    def __init__(self, slots):
        self.buffers = symmetric(slots * dist.get_world_size(), dtype=torch.int32)
        self.addresses = self.buffers.addresses
        self.turns = torch.zeros(slots, dtype=torch.int32, device=DEVICE)
