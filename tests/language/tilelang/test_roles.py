"""Roles of warp groups that wait for each other at barriers: in the order that barriers ask for, known at compile time or not. By
the oracle, which runs roles side by side, and by machine code."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.errors import Error
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts

pytestmark = pytest.mark.usefixtures("engine")
M, N, K, BM, BN, BK = 64, 64, 96, 32, 32, 16


def operands():
    torch.manual_seed(0)
    a, b = torch.randint(-4, 5, (M, K)).half(), torch.randint(-4, 5, (K, N)).half()  # sums are exact
    return a, b, a.float() @ b.float()


def roles_in_the_loop(K):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=256) as (bx, by):
            a, b = T.alloc_shared((BM, BK), "float16"), T.alloc_shared((BK, BN), "float16")
            acc = T.alloc_fragment((BM, BN), "float32")
            ready, done = T.alloc_barrier(128), T.alloc_barrier(128)
            with T.ws(1):
                T.clear(acc)
            for k in T.serial(T.ceildiv(K, BK)):
                with T.ws(0):
                    T.barrier_wait(done, (k + 1) % 2)
                    T.copy(A[by * BM, k * BK], a)
                    T.copy(B[k * BK, bx * BN], b)
                    T.barrier_arrive(ready)
                with T.ws(1):
                    T.barrier_wait(ready, k % 2)
                    T.gemm(a, b, acc)
                    T.barrier_arrive(done)
            with T.ws(1):
                T.copy(acc, C[by * BM, bx * BN])

    return main


def loops_in_roles(K, stages, consumers=1):
    """A producer that runs up to `stages` steps ahead of consumers that share the rows."""
    groups = tuple(range(consumers))

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=128 * (1 + consumers)) as (bx, by):
            a, b = T.alloc_shared((stages, BM, BK), "float16"), T.alloc_shared((stages, BK, BN), "float16")
            ready, done = T.alloc_barrier([128] * stages), T.alloc_barrier([128 * consumers] * stages)
            with T.ws(0):
                T.set_max_nreg(24, 0)
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(done[k % stages], ((k // stages) & 1) ^ 1)
                    T.tma_copy(A[by * BM, k * BK], a[k % stages, :, :], barrier=ready[k % stages])
                    T.tma_copy(B[k * BK, bx * BN], b[k % stages, :, :], barrier=ready[k % stages])
                    T.mbarrier_arrive(ready[k % stages])
            rows = BM // consumers
            for w in groups:
                with T.ws(1 + w):
                    T.set_max_nreg(240, 1)
                    acc = T.alloc_fragment((rows, BN), "float32")
                    T.clear(acc)
                    for k in T.serial(T.ceildiv(K, BK)):
                        T.mbarrier_wait_parity(ready[k % stages], (k // stages) & 1)
                        T.gemm(a[k % stages, w * rows : (w + 1) * rows, :], b[k % stages, :, :], acc)
                        T.mbarrier_arrive(done[k % stages])
                    T.copy(acc, C[by * BM + w * rows, bx * BN])

    return main


@pytest.mark.parametrize(
    "make",
    [roles_in_the_loop, lambda K: loops_in_roles(K, 1), lambda K: loops_in_roles(K, 3), lambda K: loops_in_roles(K, 2, 2)],
    ids=["in_the_loop", "one_stage", "three_stages", "two_consumers"],
)
@pytest.mark.parametrize("known", [True, False], ids=["at_compile_time", "at_run_time"])
def test_pipelined_products(make, known):
    a, b, right = operands()
    c = torch.zeros(M, N)
    tilelang.compile(make(K if known else T.dynamic("K")))(a, b, c)
    torch.testing.assert_close(c, right, rtol=0, atol=0)


def ping_pong(steps):
    """Two roles that hand a tile to and fro: neither can be executed before the other."""

    @T.prim_func
    def main(X: T.Tensor((8,), "int32"), Y: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((8,), "int32")
            to, fro = T.alloc_barrier(128), T.alloc_barrier(128)
            with T.ws(0):
                T.copy(X, tile)
                for k in T.serial(steps):
                    for i in T.Parallel(8):
                        tile[i] = tile[i] + 1
                    T.barrier_arrive(to)
                    T.barrier_wait(fro, k % 2)
                T.copy(tile, Y)
            with T.ws(1):
                for k in T.serial(steps):
                    T.barrier_wait(to, k % 2)
                    for i in T.Parallel(8):
                        tile[i] = tile[i] * 2
                    T.barrier_arrive(fro)

    return main


@pytest.mark.parametrize("steps", [1, 4])
def test_roles_that_answer_each_other(steps):
    x, y = torch.arange(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    tilelang.compile(ping_pong(steps))(x, y)
    for _ in range(steps):
        x = (x + 1) * 2
    assert y.tolist() == x.tolist()


def test_steps_that_data_counts():
    """How often roles meet is read from memory; a branch decides in which turns one of them works."""

    @T.prim_func
    def main(counts: T.Tensor((4,), "int32"), Y: T.Tensor((4, 2), "int32")):
        with T.Kernel(4, threads=256) as bx:
            cell = T.alloc_shared((1,), "int32")
            full, empty = T.alloc_barrier(128), T.alloc_barrier(128)
            with T.ws(0):
                n = counts[bx]
                for k in T.serial(n):
                    T.barrier_wait(empty, (k + 1) % 2)
                    if k % 3 == 0:
                        cell[0] = k
                    T.barrier_arrive(full)
            with T.ws(1):
                total = T.alloc_var("int32", init=0)
                k = T.alloc_var("int32", init=0)
                while k < counts[bx]:
                    T.barrier_wait(full, k % 2)
                    total += cell[0]
                    T.barrier_arrive(empty)
                    k += 1
                Y[bx, 0] = total
                Y[bx, 1] = k

    counts, y = torch.tensor([0, 1, 5, 11], dtype=torch.int32), torch.zeros(4, 2, dtype=torch.int32)
    tilelang.compile(main)(counts, y)
    assert y.tolist() == [[sum(k // 3 * 3 for k in range(n)), n] for n in counts.tolist()]


def test_a_wait_that_never_ends_is_reported():
    @T.prim_func
    def main(counts: T.Tensor((1,), "int32"), Y: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=256):
            full = T.alloc_barrier(128)
            with T.ws(0):
                if counts[0] > 0:
                    T.barrier_arrive(full)
            with T.ws(1):
                T.barrier_wait(full, 0)
                Y[0] = 7

    kernel, y = tilelang.compile(main), torch.zeros(1, dtype=torch.int32)
    kernel(torch.ones(1, dtype=torch.int32), y)
    assert y.item() == 7
    with pytest.raises(Error, match="waits for ever for `full`, ") as caught:
        kernel(torch.zeros(1, dtype=torch.int32), y)
    assert "T.barrier_wait(full, 0)" in str(caught.value)


def test_more_arrivals_than_a_phase_lacks_are_reported():
    @T.prim_func
    def main(n: T.int32, Y: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=128):
            bar = T.alloc_barrier(192)
            for _ in T.serial(n):
                T.barrier_arrive(bar)
            Y[0] = n

    kernel, y = tilelang.compile(main), torch.zeros(1, dtype=torch.int32)
    kernel(1, y)
    with pytest.raises(Error, match="arrivals"):
        kernel(2, y)


def test_one_thread_of_some_arrives():
    @T.prim_func
    def main(A: T.Tensor((16, 16), "float32"), B: T.Tensor((16, 16), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((16, 16), "float32")
            one, four = T.alloc_barrier(1), T.alloc_barrier(4)
            if T.shuffle_elect(0):
                T.mbarrier_expect_tx(one, 16 * 16 * 4)
                T.tma_copy(A, tile, barrier=one)
                T.mbarrier_arrive(one)
            T.mbarrier_wait_parity(one, 0)
            if T.shuffle_elect(32):
                T.mbarrier_arrive(four)
            T.mbarrier_wait_parity(four, 0)
            T.tma_copy(tile, B)
            T.tma_store_arrive()
            T.tma_store_wait(0)

    a, b = torch.randn(16, 16), torch.zeros(16, 16)
    tilelang.compile(main)(a, b)
    assert torch.equal(a, b)


def test_products_that_are_waited_for():
    @T.prim_func
    def main(A: T.Tensor((64, 32), "float16"), B: T.Tensor((32, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared((64, 32), "float16"), T.alloc_shared((32, 64), "float16")
            acc = T.alloc_fragment((64, 64), "float32")
            T.async_copy(A, a)
            T.async_copy(B, b)
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.warpgroup_arrive()
            T.wgmma_gemm(a[:, 0:16], b[0:16, :], acc, clear_accum=True)
            T.wgmma_gemm(a[:, 16:], b[16:, :], acc)
            T.warpgroup_commit_batch()
            T.wait_wgmma(0)
            T.copy(acc, C)

    a, b = torch.randint(-4, 5, (64, 32)).half(), torch.randint(-4, 5, (32, 64)).half()
    c = torch.zeros(64, 64)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(c, a.float() @ b.float())


@pytest.mark.parametrize("mask", [0b0011, 0b1010, 0b1111])
def test_copies_to_blocks_of_a_cluster(mask):
    @T.prim_func
    def main(A: T.Tensor((8, 64), "float32"), B: T.Tensor((8, 64), "float32"), R: T.Tensor((2, 8), "int32")):
        with T.ClusterKernel(8, 2, threads=128, cluster_dims=(4, 1, 1)) as (bx, by):
            tile = T.alloc_shared((4, 8), "float32")
            T.copy_cluster(A[by * 4, bx * 8], tile, cluster_mask=mask)
            T.cluster_sync()
            T.copy(tile, B[by * 4, bx * 8])
            R[by, bx] = T.block_rank_in_cluster()

    a, b, ranks = torch.randn(8, 64), torch.zeros(8, 64), torch.zeros(2, 8, dtype=torch.int32)
    tilelang.compile(main)(a, b, ranks)
    first = (mask & -mask).bit_length() - 1
    for block in range(8):
        source = block // 4 * 4 + first if mask >> block % 4 & 1 else block
        assert torch.equal(b[:, block * 8 : block * 8 + 8], a[:, source * 8 : source * 8 + 8])
    assert ranks.tolist() == [[0, 1, 2, 3] * 2] * 2


@pytest.mark.parametrize("swizzle, column_major", [(1, True), (2, True), (3, False)])
def test_persistent_scheduler(swizzle, column_major):
    """Each tile is visited once, in the order that the language defines."""
    tiles_m, tiles_n, workers = 5, 4, 3

    @T.prim_func
    def main(order: T.Tensor((tiles_m, tiles_n), "int32"), turns: T.Tensor((tiles_m, tiles_n), "int32")):
        with T.Kernel(workers, threads=128) as worker:
            tiles = T.PersistentTileScheduler(tiles_m, tiles_n, workers, swizzle, column_major)
            tiles.init(worker)
            while tiles.valid():
                order[tiles.m_idx, tiles.n_idx] = tiles.linear_idx
                turns[tiles.m_idx, tiles.n_idx] = tiles.current_iter
                tiles.next_tile()

    order, turns = (torch.full((tiles_m, tiles_n), -1, dtype=torch.int32) for _ in range(2))
    tilelang.compile(main)(order, turns)
    fast, slow = (tiles_m, tiles_n) if column_major else (tiles_n, tiles_m)
    place, number = {}, 0
    for stripe in range(0, slow, swizzle):
        width = min(swizzle, slow - stripe)
        for f in range(fast):
            for s in range(stripe, stripe + width):
                place[(f, s) if column_major else (s, f)] = number
                number += 1
    assert {(m, n): order[m, n].item() for m, n in place} == place
    assert torch.equal(turns, order // workers)


def test_a_role_that_goes_on():
    """What the same threads do in two places is one after the other, also where they wait between."""

    @T.prim_func
    def main(X: T.Tensor((8,), "int32"), Y: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=256):
            a, b = T.alloc_shared((8,), "int32"), T.alloc_shared((8,), "int32")
            first, second = T.alloc_barrier(128), T.alloc_barrier(128)
            with T.ws(0):
                T.barrier_wait(first, 0)
                for i in T.Parallel(8):
                    b[i] = a[i] * 2
            with T.ws(1):
                T.copy(X, a)
                T.barrier_arrive(first)
            with T.ws(0):
                for i in T.Parallel(8):
                    b[i] += 1
                T.barrier_arrive(second)
            with T.ws(1):
                T.barrier_wait(second, 0)
                T.copy(b, Y)

    x, y = torch.arange(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    tilelang.compile(main)(x, y)
    assert y.tolist() == [2 * n + 1 for n in range(8)]


def thread_roles(seq, dim, B, stages):
    """A producer and two consumers by the index of the thread, as upstream's hand-written kernels have them."""
    steps = seq // B

    @T.prim_func
    def main(Q: T.Tensor((seq, dim), "float16"), K: T.Tensor((seq, dim), "float16"), S: T.Tensor((seq, seq), "float32")):
        with T.Kernel(seq // (2 * B), threads=384) as bx:
            tx = T.get_thread_binding()
            q, k = T.alloc_shared((2, B, dim), "float16"), T.alloc_shared((stages, B, dim), "float16")
            full, empty = T.alloc_barrier([1] * stages), T.alloc_barrier([256] * stages)
            q_full = T.alloc_barrier(128)
            if tx < 128:
                T.set_max_nreg(240, 1)
                s = T.alloc_fragment((B, B), "float32")
                T.barrier_wait(q_full, 0)
                for n in T.serial(steps):
                    T.barrier_wait(full[n % stages], (n // stages) & 1)
                    T.gemm(q[0, :, :], k[n % stages, :, :], s, transpose_B=True, clear_accum=True)
                    T.barrier_arrive(empty[n % stages])
                    T.copy(s, S[bx * 2 * B, n * B])
            elif tx >= 128 and tx < 256:
                T.set_max_nreg(240, 1)
                s = T.alloc_fragment((B, B), "float32")
                T.barrier_wait(q_full, 0)
                for n in T.serial(steps):
                    T.barrier_wait(full[n % stages], (n // stages) & 1)
                    T.gemm(q[1, :, :], k[n % stages, :, :], s, transpose_B=True, clear_accum=True)
                    T.barrier_arrive(empty[n % stages])
                    T.copy(s, S[bx * 2 * B + B, n * B])
            else:
                T.set_max_nreg(24, 0)
                for half in T.serial(2):
                    T.copy(Q[(bx * 2 + half) * B, 0], q[half, :, :])
                T.barrier_arrive(q_full)
                for n in T.serial(steps):
                    T.barrier_wait(empty[n % stages], ((n // stages) & 1) ^ 1)
                    if tx == 256:
                        T.tma_copy(K[n * B, 0], k[n % stages, :, :], barrier=full[n % stages])
                        T.mbarrier_arrive(full[n % stages])

    return main


@pytest.mark.parametrize("stages", [1, 2])
def test_roles_by_the_index_of_the_thread(stages):
    seq, dim = 128, 32
    q, k = torch.randint(-4, 5, (seq, dim)).half(), torch.randint(-4, 5, (seq, dim)).half()
    s = torch.zeros(seq, seq)
    tilelang.compile(thread_roles(seq, dim, 32, stages))(q, k, s)
    assert torch.equal(s, q.float() @ k.float().T)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_barriers_with_numbers(steps):
    @T.prim_func
    def main(X: T.Tensor((steps, 64), "int32"), Y: T.Tensor((steps, 64), "int32"), Z: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=384):
            tile, total = T.alloc_shared((64,), "int32"), T.alloc_fragment((64,), "int32")
            with T.ws(0):
                for k in T.serial(steps):
                    T.sync_threads(2, 384)  # both have read the one before
                    T.copy(X[k, :], tile)
                    T.named_barrier_arrive(1, 384)
            with T.ws(1):
                T.named_barrier_arrive(2, 384)
                for k in T.serial(steps):
                    T.sync_threads(1, 384)
                    T.copy(tile, Y[k, :])
                    if k < steps - 1:
                        T.named_barrier_arrive(2, 384)
            with T.ws(2):
                T.clear(total)
                T.named_barrier_arrive(2, 384)
                for k in T.serial(steps):
                    T.sync_threads(1, 384)
                    for i in T.Parallel(64):
                        total[i] += tile[i] * (k + 1)
                    if k < steps - 1:
                        T.named_barrier_arrive(2, 384)
                T.copy(total, Z)

    x = torch.randint(-9, 9, (steps, 64), dtype=torch.int32)
    y, z = torch.empty_like(x), torch.empty(64, dtype=torch.int32)
    tilelang.compile(main)(x, y, z)
    assert (y == x).all() and (z == (x * torch.arange(1, steps + 1)[:, None]).sum(0)).all()
    module = tilelang.compile(main).traced(usual_layouts(main.params)).module
    assert all(_native.compile(module, target=target, texts=True).asm for target in ("sm_80", "sm_90a"))


def test_barriers_with_numbers_that_are_wrong():
    def counts():
        with T.Kernel(1, threads=256):
            with T.ws(0):
                T.named_barrier_arrive(1, 256)
            with T.ws(1):
                T.named_barrier_arrive(1, 128)

    def number():
        with T.Kernel(1, threads=256):
            with T.ws(0):
                T.named_barrier_arrive(16, 256)

    def outside():
        with T.Kernel(1, threads=256):
            T.named_barrier_arrive(1, 256)

    for function, kind, message in (
        (counts, ValueError, "of 128 threads at barrier 1, which is one of 256 elsewhere"),
        (number, ValueError, "takes the number of a barrier, 0 to 15, got 16"),
        (outside, NotImplementedError, "outside of a role of warp groups"),
    ):
        with pytest.raises(kind, match=message) as caught:
            T.prim_func(function)
        assert isinstance(caught.value, Error)
