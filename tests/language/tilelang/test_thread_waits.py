"""How the threads of a block wait: all, those who take a branch, at barriers in shared memory; in blocks of no whole warps."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def test_threads_that_part_are_reported():
    """Where data decides who comes, all must come."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            if A[tx] < 32:
                T.sync_threads()
                A[tx] = 1
            else:
                T.sync_threads()
                A[tx] = 2

    with pytest.raises(RuntimeError, match="diverge"):
        tilelang.compile(main)(torch.arange(64, dtype=torch.int32), debug=True)


def test_threads_that_wait_at_two_places_are_refused():
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            A[tx] = tx
            if tx < 32:
                T.sync_threads(1, 64)

    with pytest.raises(ValueError, match="a wait of 64 threads stands where 32 come"):
        T.prim_func(main)


@pytest.mark.parametrize("waits", [True, False])
def test_waits_of_some_threads(waits, engine):
    """Each side of a branch on the thread's index waits for its own, with a wait stated or placed by the compiler."""

    @T.prim_func
    def main(A: T.Tensor((160,), "int32"), B: T.Tensor((160,), "int32")):
        with T.Kernel(1, threads=160):
            shared = T.alloc_shared((160,), "int32")
            tx = T.get_thread_binding()
            if tx < 64:
                shared[tx] = A[tx]
                if waits:
                    T.sync_threads(1, 64)
                B[tx] = shared[63 - tx]
            else:
                if tx < 72:
                    shared[tx] = A[tx]
                    if waits:
                        T.sync_warp()
                    B[tx] = shared[135 - tx]
                elif tx >= 96:
                    for i in T.serial(3):
                        shared[tx] = A[tx] + i
                        if waits:
                            T.sync_threads()
                        B[tx] = shared[255 - tx]
                        if waits:
                            T.sync_threads()

    a = torch.randint(0, 1000, (160,), dtype=torch.int32)
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    expected = torch.cat([a[:64].flip(0), a[64:72].flip(0), torch.zeros_like(a[72:96]), a[96:].flip(0) + 2])
    assert torch.equal(b, expected)


def test_some_threads_exchange_values(engine):
    @T.prim_func
    def main(A: T.Tensor((3, 64), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            if tx % 32 < 7:
                A[0, tx] = T.cast(T.activemask(), "int32")
                A[1, tx] = T.all_sync(tx % 32 < 7) + 2 * T.any_sync(tx % 32 > 7)
                A[2, tx] = T.shfl_sync(tx * tx, 3)
            T.sync_threads()

    a = torch.zeros(3, 64, dtype=torch.int32)
    tilelang.compile(main)(a)
    t = torch.arange(64)
    expected = torch.stack([torch.full_like(t, 127), torch.ones_like(t), (t // 32 * 32 + 3) ** 2])
    assert torch.equal(a, torch.where(t % 32 < 7, expected, 0).int())


@pytest.mark.parametrize("count", [5, 40, 100])
def test_threads_that_fill_no_warp(count, engine):
    @T.prim_func
    def main(A: T.Tensor((count,), "int32"), B: T.Tensor((3, count), "int32"), C: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=count):
            shared, places = T.alloc_shared((count,), "int32"), T.alloc_shared((1,), "int32")
            tx = T.get_thread_binding()
            shared[tx] = A[tx]
            if tx == 0:
                places[0] = 0
            T.sync_threads()
            B[0, tx] = shared[count - 1 - tx]
            B[1, tx] = T.syncthreads_count(A[tx] % 2 == 0)
            B[2, T.atomic_add(places[0], 1, return_prev=True)] = 1
            T.atomic_add(C[0], 1)
            T.sync_threads()
            if tx == 0:
                C[1] = places[0]

    a = torch.randint(0, 1000, (count,), dtype=torch.int32)
    b, c = torch.zeros(3, count, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(b[0], a.flip(0)) and (b[1] == int((a % 2 == 0).sum())).all() and (b[2] == 1).all()
    assert c.tolist() == [count, count]


@pytest.mark.parametrize("steps", [3, "n"])
def test_barriers_between_threads(steps, engine):
    """All arrive at a barrier in shared memory and wait, in each turn of a loop; one thread stands for all at another."""
    turns = T.dynamic("n") if steps == "n" else steps

    @T.prim_func
    def main(A: T.Tensor((turns, 64), "int32"), B: T.Tensor((turns, 64), "int32"), C: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            shared = T.alloc_shared((2, 64), "int32")
            bars = T.alloc_barrier([64, 64])
            tx = T.get_thread_binding()
            for i in T.serial(turns):
                shared[i % 2, tx] = A[i, tx]
                T.barrier_arrive(bars[i % 2])
                T.barrier_wait(bars[i % 2], i // 2 % 2)
                B[i, tx] = shared[i % 2, 63 - tx]
            C[tx] = shared[(turns - 1) % 2, tx ^ 1]

    a = torch.randint(0, 1000, (3, 64), dtype=torch.int32)
    b, c = torch.zeros_like(a), torch.zeros(64, dtype=torch.int32)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(b, a.flip(1)) and torch.equal(c, a[2].reshape(32, 2).flip(1).flatten())


def test_one_thread_arrives_for_all(engine):
    @T.prim_func
    def main(A: T.Tensor((64, 32), "int32"), B: T.Tensor((64, 32), "int32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((64, 32), "int32")
            ready = T.alloc_barrier(1)
            tx = T.get_thread_binding()
            T.tma_copy(A, tile, barrier=ready)
            if tx == 0:
                T.barrier_arrive(ready)
            T.mbarrier_wait_parity(ready, 0)
            for j in T.serial(32):
                B[tx, j] = tile[63 - tx, j]

    a = torch.randint(0, 1000, (64, 32), dtype=torch.int32)
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(b, a.flip(0))


def test_waits_are_placed_among_many_branches():
    """In time that grows with the length of a body, not with the number of ways through it."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64) as bx:
            shared = T.alloc_shared((64,), "int32")
            tx = T.get_thread_binding()
            for i in T.unroll(40):
                if bx < i:
                    shared[tx] = i
            T.sync_threads()
            A[tx] = shared[63 - tx]

    out = tilelang.compile(main, out_idx=-1)()
    assert (out == 39).all()


def test_waits_of_a_branch_in_a_loop_that_ends_early(engine):
    @T.prim_func
    def main(A: T.Tensor((32,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            sums, value, left = T.alloc_shared((32,), "int32"), T.alloc_var("int32"), T.alloc_var("int32", init=2)
            if tx < 32:
                sums[tx] = A[tx]
            for _ in T.serial(4):
                if left <= 0:
                    T.loop_break()
                if tx < 32:  # sums from each place to the end
                    for step in T.serial(5):
                        T.sync_threads(3, 32)
                        if tx + (1 << step) < 32:
                            value = sums[tx] + sums[tx + (1 << step)]
                        T.sync_threads(3, 32)
                        if tx + (1 << step) < 32:
                            sums[tx] = value
                left -= 1
                T.sync_threads()
            B[tx] = sums[tx % 32]

    a, b = torch.randint(-50, 50, (32,), dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    tilelang.compile(main)(a, b)
    expected = a
    for _ in range(2):
        expected = expected.flip(0).cumsum(0).flip(0)
    assert torch.equal(b, torch.cat([expected, expected]).int())


def exchange(kind):
    """Threads that write and read shared memory in loops, without a wait of their own: B (3, 8, 64) of A (3, 8, 64)."""

    @T.prim_func
    def main(A: T.Tensor((3, 8, 64), "int32"), B: T.Tensor((3, 8, 64), "int32")):
        with T.Kernel(1, threads=64):
            shared = T.alloc_shared((64, 8), "int32")
            tx = T.get_thread_binding()
            for i in T.serial(3):
                if kind == "carried":  # each turn reads what others have written in it
                    for j in T.serial(8):
                        shared[tx, 0] = A[i, j, tx]
                        B[i, j, tx] = shared[63 - tx, 0]
                else:
                    for j in T.serial(8):
                        if kind == "rows":
                            shared[tx, j] = A[i, j, tx]
                        elif kind == "moving":  # each turn has its own column, but others write where this thread wrote
                            shared[(tx + i) % 64, j] = A[i, j, tx]
                        else:  # in each turn others write where this thread wrote in the one before
                            shared[(tx + j) % 64, 0] = A[i, j, tx]
                    for j in T.serial(8):
                        B[i, j, tx] = shared[63 - tx, 0 if kind == "meeting" else j]

    return main


@pytest.mark.parametrize("kind, waits", [("rows", (2, 0)), ("moving", (2, 0)), ("carried", (0, 2)), ("meeting", (1, 1))])
def test_waits_stand_in_front_of_loops(kind, waits, engine):
    """Where each turn of a loop touches elements of its own, or only reads, one wait in front of it is enough."""
    kernel = tilelang.compile(exchange(kind))
    a, b = torch.randint(0, 1000, (3, 8, 64), dtype=torch.int32), torch.zeros(3, 8, 64, dtype=torch.int32)
    kernel(a, b)
    if kind == "meeting":  # of the last turn
        expected = a[:, 7].roll(7, 1).flip(1)[:, None].expand(3, 8, 64)
    elif kind == "moving":
        expected = torch.stack([a[i].roll(i, 1) for i in range(3)]).flip(2)
    else:
        expected = a.flip(2)
    assert torch.equal(b, expected)
    lines = kernel._latest().module.text().splitlines()
    depths = [len(line) - len(line.lstrip()) for line in lines if "tile.sync" in line]
    outer = min(len(line) - len(line.lstrip()) for line in lines if "scf.for" in line) + 2  # in the loop over i
    assert (sum(depth == outer for depth in depths), sum(depth > outer for depth in depths)) == waits
