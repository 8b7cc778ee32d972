"""What the examples share: processes, buffers that peers see, checks and times.

On GPUs peers' buffers are torch's symmetric memory. Without a GPU, files in shared memory stand for it.
"""

import functools
import os
import statistics
import sys
import tempfile
import time

import torch
import torch._dynamo  # noqa: F401 by optimizers, too: while there is a group, it would keep the group's threads beyond its end
import torch.distributed as dist

ON_GPU = torch.cuda.is_available() and dist.is_nccl_available()
DEVICE = "cuda" if ON_GPU else "cpu"
TIMED = "--time" in sys.argv  # sizes that are worth measuring, beside the backend's own


class Symmetric:
    """A tensor of each process, on GPUs that see each other's memory. `all`: every process's, by rank."""

    def __init__(self, shape, dtype):
        import torch.distributed._symmetric_memory as memory

        self.own = memory.empty(*shape, dtype=dtype, device="cuda")
        self.handle = memory.rendezvous(self.own, dist.group.WORLD)
        self.all = [self.handle.get_buffer(rank, shape, dtype) for rank in range(dist.get_world_size())]
        self.addresses = torch.tensor([buffer.data_ptr() for buffer in self.all], device="cuda")

    def wait(self):
        """What any process launched before, all see in what they launch afterwards."""
        self.handle.barrier(channel=0)


class Shared:
    """The same between processes of one machine, on CPUs."""

    def __init__(self, shape, dtype):
        folder = [tempfile.mkdtemp(dir="/dev/shm") if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(folder)
        names = [os.path.join(folder[0], str(rank)) for rank in range(dist.get_world_size())]
        size = torch.Size(shape).numel()
        if dist.get_rank() == 0:
            for name in names:
                torch.from_file(name, shared=True, size=size, dtype=dtype)  # makes the file
        dist.barrier()
        self.all = [torch.from_file(name, shared=True, size=size, dtype=dtype).view(shape) for name in names]
        self.own = self.all[dist.get_rank()]
        self.addresses = torch.tensor([buffer.data_ptr() for buffer in self.all])
        dist.barrier()
        if dist.get_rank() == 0:  # mapped by all, they need no names any more
            for name in names:
                os.remove(name)
            os.rmdir(folder[0])

    def wait(self):
        dist.barrier()


def symmetric(*shape, dtype):
    """A tensor of this shape in each process, that all of them can read and write; it holds zeros."""
    buffers = (Symmetric if ON_GPU else Shared)(shape, dtype)
    buffers.own.zero_()
    buffers.wait()
    return buffers


def fetched(buffers):
    """(rank, tensor) of each process's buffer, this one's first. On GPUs the others are copied on a stream of their own while
    what is launched between runs; without, they are read where they are."""
    rank, world = dist.get_rank(), dist.get_world_size()
    order = [(rank + step) % world for step in range(1, world)]
    if not ON_GPU:
        yield from [(r, buffers.all[r]) for r in (rank, *order)]
        return
    stream, here = _copies(), torch.cuda.current_stream()
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        copies = [(r, torch.empty_like(buffers.own), torch.cuda.Event()) for r in order]
        for r, copy, done in copies:
            copy.copy_(buffers.all[r])
            done.record()
    yield rank, buffers.own
    for r, copy, done in copies:
        here.wait_event(done)
        copy.record_stream(here)
        yield r, copy


@functools.cache
def _copies():
    return torch.cuda.Stream()


def bound(a, b, exact):
    """What a @ b, summed in float32 and rounded to the type of a, may be off from the exact product."""
    sums = a.double().abs() @ b.double().abs() * a.shape[1] * 2.0**-24
    return sums + (exact.abs() + sums) * torch.finfo(a.dtype).eps / 2 * 1.01


def randn(*shape, seed, dtype=torch.float32):
    """The same numbers in every process."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).to(DEVICE)


def milliseconds(function, rounds=5):
    """Of a call: the median of the rounds, each the mean of its calls, of the slowest process."""
    for _ in range(3):
        function()
    repeat = min(max(int(20 / _mean(function, 5)), 5), 2000)  # a round takes long beside what processes begin apart
    return statistics.median(_mean(function, repeat) for _ in range(rounds))


def _mean(function, repeat):
    """Milliseconds of a call; the same number in all processes."""
    if ON_GPU:
        torch.cuda.synchronize()
    dist.barrier()
    start = time.perf_counter()
    for _ in range(repeat):
        function()
    if ON_GPU:
        torch.cuda.synchronize()
    slowest = torch.tensor((time.perf_counter() - start) / repeat * 1e3, device=DEVICE)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.item()


def captured(function):
    """The calls it makes, as a CUDA graph that is replayed at once; without a GPU, the function."""
    if not ON_GPU:
        return function
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # NCCL's own thread goes on
        function()
    return graph.replay


def say(text):
    if dist.get_rank() == 0:
        print(text, flush=True)


def divide(*counts):
    """Ends the program unless each of these, like "512 rows", can be shared out evenly."""
    world = dist.get_world_size()
    for count in counts:
        if int(count.split()[0]) % world:
            raise SystemExit(f"{count} do not divide by {world} processes")


def compare(what, ours, theirs):
    """Says how long both take, and how many times as fast ours is."""
    ours, theirs = milliseconds(captured(ours)), milliseconds(captured(theirs))
    say(f"{what}: {ours:.4f} ms, {dist.get_backend()} {theirs:.4f} ms, {theirs / ours:.2f}")


def run(main):
    """main() in a process of torchrun."""
    if "RANK" not in os.environ:
        sys.exit(f"several processes run this: torchrun --nproc-per-node 2 {sys.argv[0]}")
    if ON_GPU:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    else:
        dist.init_process_group("gloo")
    main()
    dist.barrier()
    dist.destroy_process_group()
