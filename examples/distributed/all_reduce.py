"""One-shot all-reduce: each process adds up all buffers, its own and its peers', in the order of ranks: all get the same bits.

    torchrun --nproc-per-node 2 examples/distributed/all_reduce.py

On GPUs peers' buffers are torch's symmetric memory. Without a GPU, files in shared memory stand for it.
"""

import os
import tempfile
import time

import torch
import torch.distributed as dist

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def all_reduce_kernel(buffers, out, n, WORLD: tl.constexpr, BLOCK: tl.constexpr):
    """buffers: addresses of WORLD buffers of n elements each, of the type of `out`."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for rank in tl.static_range(WORLD):
        buffer = tl.load(buffers + rank).to(out.dtype)
        total += tl.load(buffer + i, mask=i < n, other=0).to(tl.float32)
    tl.store(out + i, total.to(out.dtype.element_ty), mask=i < n)


class Symmetric:
    """A buffer of each process, on GPUs that see each other's memory."""

    def __init__(self, n, dtype):
        import torch.distributed._symmetric_memory as memory

        self.own = memory.empty(n, dtype=dtype, device="cuda")
        self.handle = memory.rendezvous(self.own, dist.group.WORLD)
        self.addresses = torch.tensor(self.handle.buffer_ptrs, dtype=torch.int64, device="cuda")

    def wait(self):
        self.handle.barrier(channel=0)


class Shared:
    """The same between processes of one machine, on CPUs."""

    def __init__(self, n, dtype):
        folder = [tempfile.mkdtemp(dir="/dev/shm") if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(folder)
        names = [os.path.join(folder[0], str(rank)) for rank in range(dist.get_world_size())]
        if dist.get_rank() == 0:
            for name in names:
                torch.from_file(name, shared=True, size=n, dtype=dtype)  # makes the file
        dist.barrier()
        self.all = [torch.from_file(name, shared=True, size=n, dtype=dtype) for name in names]
        self.own = self.all[dist.get_rank()]
        self.addresses = torch.tensor([buffer.data_ptr() for buffer in self.all])
        dist.barrier()
        if dist.get_rank() == 0:  # mapped by all, they need no names any more
            for name in names:
                os.remove(name)
            os.rmdir(folder[0])

    def wait(self):
        dist.barrier()


def all_reduce(buffers, out):
    """out: the sum of all processes' `buffers.own`."""
    n = out.numel()
    buffers.wait()  # all have written theirs
    all_reduce_kernel[(tl.cdiv(n, 1024),)](buffers.addresses, out, n, WORLD=dist.get_world_size(), BLOCK=1024)
    buffers.wait()  # all have read them


def milliseconds(function, repeat=20):
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    function()
    wait()
    dist.barrier()
    start = time.perf_counter()
    for _ in range(repeat):
        function()
    wait()
    return (time.perf_counter() - start) / repeat * 1e3


def main():
    on_gpu = torch.cuda.is_available() and dist.is_nccl_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if on_gpu else "gloo")
    device = "cuda" if on_gpu else "cpu"
    rank, world = dist.get_rank(), dist.get_world_size()
    for n, dtype in ((1000, torch.float32), (1 << 15, torch.bfloat16), (1 << 20, torch.float32)):
        buffers = (Symmetric if on_gpu else Shared)(n, dtype)
        out = torch.empty(n, dtype=dtype, device=device)
        for step in range(3):  # a buffer is written again only when all have read it
            parts = [torch.randn(n, generator=torch.Generator().manual_seed(10 * step + r)).to(dtype) for r in range(world)]
            buffers.own.copy_(parts[rank])
            all_reduce(buffers, out)
            expected = parts[0].float()
            for part in parts[1:]:
                expected = expected + part.float()
            assert torch.equal(out.cpu(), expected.to(dtype)), f"rank {rank}, step {step}"
        ours = milliseconds(lambda: all_reduce(buffers, out))
        theirs = milliseconds(lambda: dist.all_reduce(out))
        if rank == 0:
            size = n * out.element_size() // 1000
            print(f"all-reduce of {size} kB on {world} processes agrees; {ours:.3f} ms, {dist.get_backend()} {theirs:.3f} ms")
    dist.destroy_process_group()


main()
