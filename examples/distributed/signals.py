"""Programs of several processes that wait for each other inside of a kernel."""

import torch
import torch.distributed as dist
from peers import symmetric

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def meet(flags, slot, RANK: tl.constexpr, WORLD: tl.constexpr):
    """All processes' programs of this slot wait for each other: what each wrote to its own or others' memory before, all see
    afterwards. `flags`: addresses of each process's WORLD int32 a slot, zeros, which are zeros again when all have met.

    All programs of a launch that meet must run at once, or each before those of higher slots."""
    for step in tl.static_range(1, WORLD):
        theirs = tl.load(flags + (RANK + step) % WORLD).to(tl.pointer_type(tl.int32))
        while tl.atomic_cas(theirs + slot * WORLD + RANK, 0, 1, sem="release", scope="sys") != 0:  # until it took the last one
            pass
    own = tl.load(flags + RANK).to(tl.pointer_type(tl.int32))
    for step in tl.static_range(1, WORLD):
        while tl.atomic_cas(own + slot * WORLD + (RANK + step) % WORLD, 1, 0, sem="acquire", scope="sys") != 1:
            pass


def flags(slots):
    """What `meet` takes."""
    return symmetric(slots * dist.get_world_size(), dtype=torch.int32)
