"""Programs for threads as they are written by hand: trees in shared memory, sorts, scans of warps, compaction, packed weights."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.parametrize("unrolled", [True, False])
def test_tree_in_shared_memory(unrolled):
    """Without T.sync_threads where the loop is unrolled: the compiler places the waits of ever fewer threads."""
    count = 128

    @T.prim_func
    def main(A: T.Tensor((4, count), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(4, threads=count) as bx:
            sums = T.alloc_shared((count,), "float32")
            tx = T.get_thread_binding()
            sums[tx] = A[bx, tx]
            if unrolled:
                for i in T.unroll(7):
                    if tx < (64 >> i):
                        sums[tx] = sums[tx] + sums[tx + (64 >> i)]
            else:
                T.sync_threads()
                half = T.alloc_var("int32", count // 2)
                while half > 0:
                    if tx < half:
                        sums[tx] += sums[tx + half]
                    T.sync_threads()
                    half = half // 2
            if tx == 0:
                B[bx] = sums[0]

    a, b = torch.randint(-9, 9, (4, count)).float(), torch.zeros(4)
    tilelang.compile(main)(a, b)
    assert torch.equal(b, a.sum(1))


def test_bitonic_sort():
    count = 128

    @T.prim_func
    def main(A: T.Tensor((3, count), "int32"), B: T.Tensor((3, count), "int32")):
        with T.Kernel(3, threads=count) as bx:
            kept = T.alloc_shared((count,), "int32")
            tx = T.get_thread_binding()
            kept[tx] = A[bx, tx]
            T.sync_threads()
            size, step = T.alloc_var("int32", 2), T.alloc_var("int32", 1)
            while size <= count:
                step = size // 2
                while step > 0:
                    other = tx ^ step
                    if other > tx:
                        x, y = T.alloc_var("int32", kept[tx]), T.alloc_var("int32", kept[other])
                        rises = (tx & size) == 0
                        if (rises and x > y) or (not rises and x < y):
                            kept[tx] = y
                            kept[other] = x
                    T.sync_threads()
                    step = step // 2
                size = size * 2
            B[bx, tx] = kept[tx]

    a = torch.randint(0, 1000, (3, count), dtype=torch.int32)
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(b, a.sort(1).values)


@pytest.mark.parametrize("count", [64, 96])
def test_sort_of_pairs(count):
    """Each thread compares a pair whose place it finds by dividing by a distance; numbers and where they were move together."""
    size = 1 << (count - 1).bit_length()

    @T.prim_func
    def main(A: T.Tensor((3, count), "float32"), B: T.Tensor((3, count), "float32"), P: T.Tensor((3, count), "int32")):
        with T.Kernel(3, threads=size // 2) as bx:
            kept, place = T.alloc_shared((size,), "float32"), T.alloc_shared((size,), "int32")
            tx = T.get_thread_binding()
            for k in range(2):
                at = tx + k * (size // 2)
                kept[at] = T.if_then_else(at < count, A[bx, at], T.infinity("float32"))
                place[at] = at
            T.sync_threads()
            for stage in T.serial(1, size.bit_length()):
                for sub in T.serial(stage):
                    distance = 1 << (stage - 1 - sub)
                    low = (tx // distance) * distance * 2 + tx % distance
                    rises = ((low >> stage) & 1) == 0
                    x, y, i, j = kept[low], kept[low + distance], place[low], place[low + distance]
                    if (x > y) == rises:
                        kept[low] = y
                        kept[low + distance] = x
                        place[low] = j
                        place[low + distance] = i
                    T.sync_threads()
            for k in range(2):
                at = tx + k * (size // 2)
                if at < count:
                    B[bx, at] = kept[at]
                    P[bx, at] = place[at]

    a = torch.randn(3, count)
    b, i = torch.zeros_like(a), torch.zeros(3, count, dtype=torch.int32)
    tilelang.compile(main)(a, b, i)
    values, places = a.sort(1)
    assert torch.equal(b, values) and torch.equal(i.long(), places)


@pytest.mark.parametrize("threads", [96, 512])
def test_scan_by_the_first_warp(threads):
    """Sums of warps, which the first warp adds up by shuffles; distances are numbers of a loop."""

    @T.prim_func
    def main(A: T.Tensor((2, threads), "int32"), B: T.Tensor((2, threads), "int32"), C: T.Tensor((2, threads), "int32")):
        with T.Kernel(2, threads=threads) as bx:
            tx = T.get_thread_binding()
            sums = T.alloc_shared((threads // 32,), "int32")
            x, y = T.alloc_var("int32", A[bx, tx]), T.alloc_var("int32", 0)
            C[bx, tx] = T.shfl_down(x, tx % 7)
            for i in T.serial(5):
                before = T.shfl_up(x, 1 << i)
                if tx % 32 >= (1 << i):
                    x += before
            if tx % 32 == 31:
                sums[tx // 32] = x
            T.sync_threads()
            if tx < 32:
                y = T.if_then_else(tx < threads // 32, sums[tx], 0)
                for i in T.serial(5):
                    before = T.shfl_up(y, 1 << i)
                    if tx >= (1 << i):
                        y += before
                if tx < threads // 32:
                    sums[tx] = y
            T.sync_threads()
            if tx >= 32:
                x += sums[tx // 32 - 1]
            B[bx, tx] = x

    a = torch.randint(-50, 50, (2, threads), dtype=torch.int32)
    b, c = torch.zeros_like(a), torch.zeros_like(a)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(b, a.cumsum(1).int())
    lane = torch.arange(threads)
    source = lane % 32 + lane % 7
    taken = torch.where(source < 32, lane + lane % 7, lane)
    assert torch.equal(c, a[:, taken])


def test_scan_by_warps():
    @T.prim_func
    def main(A: T.Tensor((128,), "int32"), B: T.Tensor((128,), "int32")):
        with T.Kernel(1, threads=128):
            tx = T.get_thread_binding()
            lane, warp = tx % 32, tx // 32
            sums = T.alloc_shared((4,), "int32")
            x, base = T.alloc_var("int32", A[tx]), T.alloc_var("int32", 0)
            for i in T.unroll(5):
                before = T.shfl_up(x, 1 << i)
                if lane >= (1 << i):
                    x += before
            if lane == 31:
                sums[warp] = x
            T.sync_threads()
            for i in T.serial(warp):
                base += sums[i]
            B[tx] = x + base

    a = torch.randint(-50, 50, (128,), dtype=torch.int32)
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(b, a.cumsum(0).int())


def test_compaction_by_votes():
    @T.prim_func
    def main(A: T.Tensor((128,), "int32"), B: T.Tensor((128,), "int32"), N: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=128):
            tx = T.get_thread_binding()
            lane, warp = tx % 32, tx // 32
            counts = T.alloc_shared((4,), "int32")
            keep = A[tx] > 0
            bits = T.cast(T.ballot_sync(keep), "uint32")
            below = T.popcount(bits & ((T.uint32(1) << T.cast(lane, "uint32")) - T.uint32(1)))
            if lane == 0:
                counts[warp] = T.cast(T.popcount(bits), "int32")
            T.sync_threads()
            base = T.alloc_var("int32", 0)
            for i in T.serial(4):
                if i < warp:
                    base += counts[i]
            if keep:
                B[base + T.cast(below, "int32")] = A[tx]
            if tx == 127:
                N[0] = base + counts[3]

    a = torch.randint(-50, 50, (128,), dtype=torch.int32)
    b, n = torch.zeros_like(a), torch.zeros(1, dtype=torch.int32)
    tilelang.compile(main)(a, b, n)
    kept = a[a > 0]
    assert int(n) == len(kept) and torch.equal(b[: len(kept)], kept)


def test_weights_of_four_bits():
    rows, columns = 32, 256

    @T.prim_func
    def main(A: T.Tensor((columns,), "float32"), Q: T.Tensor((rows, columns // 8), "int32"), C: T.Tensor((rows,), "float32")):
        with T.Kernel(rows // 4, threads=(32, 4)) as bx:
            tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)
            weights, total = T.alloc_local((8,), "float32"), T.alloc_local((1,), "float32")
            T.clear(total)
            word = Q[bx * 4 + ty, tx]
            for j in T.serial(8):
                weights[j] = T.cast(((word >> (4 * j)) & 15) - 8, "float32")
            for j in T.serial(8):
                total[0] += weights[j] * A[tx * 8 + j]
            result = T.warp_reduce_sum(total[0])
            if tx == 0:
                C[bx * 4 + ty] = result

    a = torch.randint(-4, 5, (columns,)).float()
    q = torch.randint(-(2**31), 2**31 - 1, (rows, columns // 8), dtype=torch.int32)
    c = torch.zeros(rows)
    tilelang.compile(main)(a, q, c)
    words = q.long() & 0xFFFFFFFF
    weights = torch.stack([(words >> (4 * j) & 15) - 8 for j in range(8)], -1).reshape(rows, columns)
    assert torch.equal(c.double(), weights.double() @ a.double())


def test_sum_in_two_launches():
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), P: T.Tensor((T.ceildiv(n, 128),), "float32"), B: T.Tensor((1,), "float32")):
        with T.Kernel(T.ceildiv(n, 128), threads=128) as bx:
            sums = T.alloc_shared((4,), "float32")
            tx = T.get_thread_binding()
            x = T.if_then_else(bx * 128 + tx < n, A[bx * 128 + tx], 0.0)
            total = T.warp_reduce_sum(x)
            if tx % 32 == 0:
                sums[tx // 32] = total
            if tx == 0:
                P[bx] = sums[0] + sums[1] + sums[2] + sums[3]
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            part = T.alloc_var("float32", 0.0)
            for i in T.serial(tx, T.ceildiv(n, 128), 32):
                part += P[i]
            whole = T.warp_reduce_sum(part)
            if tx == 0:
                B[0] = whole

    a, p, b = torch.randint(-9, 9, (5000,)).float(), torch.zeros(40), torch.zeros(1)
    tilelang.compile(main)(a, p, b)
    assert b[0] == a.sum()


def test_layout_by_hand():
    """Rows of 128 bytes with their 16-byte pieces exchanged, as annotated and as indexed."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128):
            kept = T.alloc_shared((64, 64), "float16")
            tx = T.get_thread_binding()
            T.annotate_layout({kept: tilelang.layout.make_swizzled_layout(kept)})
            own = T.alloc_local((8,), "float16")
            for i in T.serial(4):
                row = i * 16 + tx // 8
                for j in T.vectorized(8):
                    own[j] = A[row, (tx % 8) * 8 + j]
                for j in T.vectorized(8):
                    kept[row, ((tx % 8) ^ (row % 8)) * 8 + j] = own[j]
            T.sync_threads()
            for i in T.serial(32):
                row, column = tx % 64, i * 2 + tx // 64
                B[row, column] = kept[row, ((column // 8) ^ (row % 8)) * 8 + column % 8]

    a = torch.randn(64, 64).half()
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(a, b)
