"""Experts that live in several processes: each token is sent to the processes of its experts, and comes back.

    torchrun --nproc-per-node 2 examples/distributed/expert_dispatch.py [--time]

A kernel of TileLang writes rows of tokens to where their experts are, each to its place among those that the expert gets; one of
Tileon multiplies what came for each expert; one of TileLang reads a token's results from its experts' processes and adds them up.
"""

import torch
import torch.distributed as dist
from peers import DEVICE, ON_GPU, TIMED, compare, divide, randn, run, say, symmetric

from tilery import tilelang, tileon
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tilelang.jit
def send(tokens, top, columns, capacity, world, dtype):
    @T.prim_func
    def main(
        X: T.Tensor((tokens, columns), dtype),
        Rank: T.Tensor((tokens, top), "int32"),
        Place: T.Tensor((tokens, top), "int32"),
        Buffers: T.Tensor((world,), "int64"),
    ):
        with T.Kernel(tokens, top, threads=128) as (t, i):
            theirs = T.make_tensor(Buffers[Rank[t, i]], (capacity, columns), dtype)
            for j in T.Parallel(columns):
                theirs[Place[t, i], j] = X[t, j]

    return main


@tilelang.jit
def collect(tokens, top, columns, capacity, world, dtype):
    @T.prim_func
    def main(
        Rank: T.Tensor((tokens, top), "int32"),
        Place: T.Tensor((tokens, top), "int32"),
        Weight: T.Tensor((tokens, top), "float32"),
        Buffers: T.Tensor((world,), "int64"),
        Y: T.Tensor((tokens, columns), dtype),
    ):
        with T.Kernel(tokens, threads=128) as t:
            total = T.alloc_fragment((columns,), "float32")
            T.clear(total)
            for i in T.serial(top):
                theirs = T.make_tensor(Buffers[Rank[t, i]], (capacity, columns), dtype)
                for j in T.Parallel(columns):
                    total[j] += Weight[t, i] * T.cast(theirs[Place[t, i], j], "float32")
            T.copy(total, Y[t, 0])

    return main


@tileon.jit
def experts_kernel(x, w, y, ends, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """y[rows of expert e] = x[rows of e] @ w[e]; the rows of e end at ends[e + 1], where those of the next begin."""
    expert = tl.program_id(2)
    first, end = tl.load(ends + expert), tl.load(ends + expert + 1)
    first += tl.program_id(1) * BLOCK_M
    if first < end:
        rows, columns = first + tl.arange(0, BLOCK_M), tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
        a = x + rows[:, None] * K + tl.arange(0, BLOCK_K)[None, :]
        b = w + expert.to(tl.int64) * K * N + tl.arange(0, BLOCK_K)[:, None] * N + columns[None, :]
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            acc = tl.dot(tl.load(a, mask=rows[:, None] < end, other=0), tl.load(b), acc)
            a += BLOCK_K
            b += BLOCK_K * N
        tl.store(y + rows[:, None] * N + columns[None, :], acc.to(y.dtype.element_ty), mask=rows[:, None] < end)


def experts(x, w, y, ends):
    n, k = w.shape[2], w.shape[1]
    grid = (n // 128, tl.cdiv(x.shape[0], 128), w.shape[0])  # an expert may get all rows
    experts_kernel[grid](x, w, y, ends, n, k, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=8)


class Route:
    """Where the tokens of this process go, and what it gets: `rank` and `place` of each token's rows, `ends` of the rows of each
    of its experts. Expert e lives in process e // (experts a process). Rows come in the order of experts, then of processes.

    :param chosen: experts of each token, [tokens, top], int64.
    :param experts: how many there are."""

    def __init__(self, chosen, experts):
        rank, world = dist.get_rank(), dist.get_world_size()
        flat = chosen.flatten()
        here = torch.zeros(experts, dtype=torch.int64, device=DEVICE).scatter_add_(0, flat, torch.ones_like(flat))
        counts = [torch.empty_like(here) for _ in range(world)]
        dist.all_gather(counts, here)
        self.counts = torch.stack(counts, 1).view(world, -1, world)  # [to process, expert, from process]
        begins = self.counts.flatten(1).cumsum(1).view_as(self.counts) - self.counts
        self.order = flat.argsort(stable=True)
        among = torch.empty_like(flat)  # a row's number among those that this process sends to its expert
        among[self.order] = torch.arange(len(flat), device=DEVICE) - (here.cumsum(0) - here)[flat[self.order]]
        self.rank = (chosen // (experts // world)).int()
        self.place = (begins[:, :, rank].flatten()[flat] + among).view_as(chosen).int()
        self.ends = torch.nn.functional.pad(self.counts[rank].sum(1).cumsum(0), (1, 0)).int()


class Experts:
    """`tokens` tokens a process, each sent to `top` of all experts.

    :param w: the matrices of this process's experts, [experts, k, n], k a multiple of 64, n of 128."""

    def __init__(self, tokens, top, w):
        world, (_, k, n) = dist.get_world_size(), w.shape
        self.w, capacity, dtype = w, tokens * top * world, str(w.dtype).removeprefix("torch.")
        self.given, self.results = symmetric(capacity, k, dtype=w.dtype), symmetric(capacity, n, dtype=w.dtype)
        self.send = send(tokens, top, k, capacity, world, dtype)
        self.collect = collect(tokens, top, n, capacity, world, dtype)

    def __call__(self, x, route, weight, y):
        """y[t]: the sum over t's experts of weight[t, i] * (x[t] @ w of expert i)."""
        self.send(x, route.rank, route.place, self.given.addresses)
        self.given.wait()  # all rows are there
        experts(self.given.own, self.w, self.results.own, route.ends)
        self.results.wait()  # all results are there, and rows may be written again
        self.collect(route.rank, route.place, weight, self.results.addresses, y)


class Problem:
    def __init__(self, tokens, top, number, columns, dtype, seed=0):
        rank, world = dist.get_rank(), dist.get_world_size()
        divide(f"{number} experts")
        self.all_weights, self.all_chosen = randn(world * tokens, number, seed=seed).softmax(1).topk(top, 1)
        self.all_x = randn(world * tokens, columns, seed=1, dtype=dtype)
        self.all_w = randn(number, columns, columns, seed=2, dtype=dtype)
        self.x, self.w = self.all_x.chunk(world)[rank], self.all_w.chunk(world)[rank].contiguous()
        self.weight = self.all_weights.chunk(world)[rank].contiguous()
        self.route = Route(self.all_chosen.chunk(world)[rank].contiguous(), number)
        self.y = torch.empty_like(self.x)

    def exact(self):
        """By one process, and what it may be off: products and sums are rounded in float32, results in the type of x."""
        x, w, result, sums = self.all_x.double(), self.all_w.double(), 0, 0
        for weight, chosen in zip(self.all_weights.double().unbind(1), self.all_chosen.unbind(1)):
            result = result + weight[:, None] * torch.bmm(x[:, None], w[chosen])[:, 0]
            sums = sums + weight[:, None] * torch.bmm(x[:, None].abs(), w[chosen].abs())[:, 0]
        unit = (x.shape[1] + 4) * 2.0**-24 + torch.finfo(self.x.dtype).eps
        rank, world = dist.get_rank(), dist.get_world_size()
        return result.chunk(world)[rank], sums.chunk(world)[rank] * unit


class AllToAll:
    """The same by the backend's all-to-all: rows in the order that it wants, and back, around our product."""

    def __init__(self, problem, top):
        self.problem, route, rank = problem, problem.route, dist.get_rank()
        self.sent, self.got = route.counts[:, :, rank].sum(1).tolist(), route.counts[rank].sum(0).tolist()
        like = lambda rows: torch.empty(rows, problem.x.shape[1], dtype=problem.x.dtype, device=DEVICE)
        self.rows, self.results, self.back = like(sum(self.got)), like(sum(self.got)), like(sum(self.sent))
        self.tokens, self.weight = route.order // top, problem.weight.flatten()[route.order][:, None].to(problem.x.dtype)
        begins = (route.counts[rank].flatten().cumsum(0).view_as(route.counts[rank]) - route.counts[rank]).t().flatten()
        sizes = route.counts[rank].t().flatten()  # of what comes from a process for an expert, as it comes
        within = torch.arange(sum(self.got), device=DEVICE) - (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        self.place = begins.repeat_interleave(sizes) + within
        self.y = torch.empty_like(problem.x)

    def __call__(self):
        dist.all_to_all_single(self.rows, self.problem.x[self.tokens], self.got, self.sent)
        given = torch.empty_like(self.rows).index_copy_(0, self.place, self.rows)
        experts(given, self.problem.w, self.results, self.problem.route.ends)
        dist.all_to_all_single(self.back, self.results[self.place], self.sent, self.got)
        self.y.zero_().index_add_(0, self.tokens, self.back * self.weight)


def check(tokens, top, number, columns, dtype):
    problem = Problem(tokens, top, number, columns, dtype)
    layer, (exact, bound) = Experts(tokens, top, problem.w), problem.exact()
    for _ in range(2):
        problem.y.fill_(float("nan"))
        layer(problem.x, problem.route, problem.weight, problem.y)
        assert (problem.y.double() - exact).abs().le(bound).all(), f"rank {dist.get_rank()}"
    theirs = AllToAll(problem, top)
    theirs()
    assert (theirs.y.double() - exact).abs().le(4 * bound).all()  # which rounds weights and sums, too
    say(f"{number} experts of {tokens} tokens a process, {str(dtype).removeprefix('torch.')}, agrees")


def measure(tokens, top, number, columns, dtype=torch.bfloat16):
    problem = Problem(tokens, top, number, columns, dtype)
    layer = Experts(tokens, top, problem.w)
    ours = lambda: layer(problem.x, problem.route, problem.weight, problem.y)
    what = f"{number} experts, {tokens} tokens of {columns} a process, beside all-to-all and our product"
    compare(what, ours, AllToAll(problem, top))


def main():
    check(40, 2, 4, 128, torch.float32)
    check(70, 1, 6, 128, torch.bfloat16)
    if TIMED:
        measure(4096 if ON_GPU else 256, 2, 16, 2048 if ON_GPU else 128)


run(main)
