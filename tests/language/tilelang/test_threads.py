"""Kernels written for the threads of a block, against torch and Python's integers."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def gemv(n, k, dtype, accum, rows=4, lanes=32, width=4):
    block = lanes * width

    @T.prim_func
    def main(A: T.Tensor((k,), dtype), B: T.Tensor((n, k), dtype), C: T.Tensor((n,), accum)):
        with T.Kernel(T.ceildiv(n, rows), threads=(lanes, rows)) as bx:
            kr, ni = T.get_thread_binding(0), T.get_thread_binding(1)
            a, b = T.alloc_local((width,), dtype), T.alloc_local((width,), dtype)
            acc = T.alloc_local((1,), accum)
            T.clear(acc)
            for ko in T.serial(T.ceildiv(k, block)):
                for v in T.vectorized(width):
                    a[v] = A[ko * block + kr * width + v]
                for v in T.vectorized(width):
                    b[v] = B[bx * rows + ni, ko * block + kr * width + v]
                for v in T.serial(width):
                    acc[0] += T.cast(a[v], accum) * T.cast(b[v], accum)
            total = T.warp_reduce_sum(acc[0])
            if kr == 0:
                C[bx * rows + ni] = total

    return main


@pytest.mark.parametrize("dtype, accum", [("float16", "float32"), ("float32", "float32"), ("int8", "int32")])
@pytest.mark.parametrize("n, k", [(16, 512), (10, 300)])
def test_gemv(n, k, dtype, accum, engine):
    a = torch.randint(-4, 5, (k,)).to(getattr(torch, dtype))
    b = torch.randint(-4, 5, (n, k)).to(getattr(torch, dtype))
    c = torch.zeros(n, dtype=getattr(torch, accum))
    tilelang.compile(gemv(n, k, dtype, accum))(a, b, c)
    assert torch.equal(c.double(), b.double() @ a.double())


@pytest.mark.parametrize("m, n", [(64, 96), (50, 70)])
def test_transpose_through_shared_memory(m, n, engine):
    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((n, m), "float32")):
        with T.Kernel(T.ceildiv(n, 32), T.ceildiv(m, 32), threads=(32, 8)) as (bx, by):
            tile = T.alloc_shared((32, 33), "float32")
            tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)
            for j in T.serial(4):
                tile[ty + j * 8, tx] = A[by * 32 + ty + j * 8, bx * 32 + tx]
            T.sync_threads()
            for j in T.serial(4):
                B[bx * 32 + ty + j * 8, by * 32 + tx] = tile[tx, ty + j * 8]

    a = torch.randn(m, n)
    out = tilelang.compile(main, out_idx=-1)(a)
    assert torch.equal(out, a.T)


@pytest.mark.parametrize("waits", [True, False])
def test_block_scan(waits, engine):
    """Without T.sync_threads the compiler places the waits."""
    count = 128

    @T.prim_func
    def main(A: T.Tensor((4, count), "int32"), B: T.Tensor((4, count), "int32")):
        with T.Kernel(4, threads=count) as bx:
            sums = T.alloc_shared((count,), "int32")
            tx = T.get_thread_binding()
            sums[tx] = A[bx, tx]
            for i in T.serial(7):
                other = T.alloc_var("int32", 0)
                if waits:
                    T.sync_threads()
                if tx >= (1 << i):
                    other = sums[tx - (1 << i)]
                if waits:
                    T.sync_threads()
                sums[tx] += other
            B[bx, tx] = sums[tx]

    a = torch.randint(-1000, 1000, (4, count), dtype=torch.int32)
    out = tilelang.compile(main, out_idx=-1)(a)
    assert torch.equal(out, a.cumsum(1).int())


def test_shuffles(engine):
    @T.prim_func
    def main(B: T.Tensor((6, 64), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            x = tx * tx
            B[0, tx] = T.shfl_sync(x, 31)
            B[1, tx] = T.shfl_up(x, 3)
            B[2, tx] = T.shfl_down(x, 5)
            B[3, tx] = T.shfl_xor(x, 6)
            B[4, tx] = T.shfl_down(x, 1, 8)
            B[5, tx] = T.shfl_sync(x, tx % 4, 16)

    out = tilelang.compile(main, out_idx=-1)().cpu()
    t = torch.arange(64)
    lane, warp = t % 32, t // 32 * 32

    def source(place, width):
        return torch.where((place >= 0) & (place < width), t // width * width + place, t)

    places = [
        source(torch.full_like(t, 31), 32),
        source(lane - 3, 32),
        source(lane + 5, 32),
        warp + (lane ^ 6),
        source(t % 8 + 1, 8),
        source(t % 4, 16),
    ]
    assert torch.equal(out, torch.stack([p * p for p in places]).int().cpu())


def test_votes(engine):
    @T.prim_func
    def main(B: T.Tensor((9, 64), "int64")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            low = tx < 40
            B[0, tx] = T.any_sync(tx == 3)
            B[1, tx] = T.all_sync(tx < 32)
            B[2, tx] = T.cast(T.ballot_sync(low), "int64")
            B[3, tx] = T.cast(T.activemask(), "int64")
            B[4, tx] = T.syncthreads_count(low)
            B[5, tx] = T.syncthreads_and(low)
            B[6, tx] = T.syncthreads_or(low)
            B[7, tx] = T.cast(T.match_any_sync(tx // 8), "int64")
            B[8, tx] = T.cast(T.match_all_sync(tx // 32), "int64")

    out = tilelang.compile(main, out_idx=-1)().cpu()
    t = torch.arange(64)
    first = t < 32
    expected = [
        first.long(),
        first.long(),
        torch.where(first, 0xFFFFFFFF, 0xFF),
        torch.full_like(t, 0xFFFFFFFF),
        torch.full_like(t, 40),
        torch.zeros_like(t),
        torch.ones_like(t),
        0xFF << (t % 32 // 8 * 8),
        torch.full_like(t, 0xFFFFFFFF),
    ]
    assert torch.equal(out, torch.stack(expected).cpu())


@pytest.mark.parametrize("known", [True, False])
def test_votes_of_some_threads(engine, known):
    """A mask names the threads that vote; each may have its own."""

    @T.prim_func
    def main(B: T.Tensor((6, 32), "int64")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            half = 0xFF00 if known else T.if_then_else(tx < 16, T.uint32(0xFFFF), T.uint32(0xFFFF0000))
            B[0, tx] = T.any_sync(tx == 3, half)
            B[1, tx] = T.all_sync(tx >= 8, half)
            B[2, tx] = T.cast(T.ballot_sync(tx % 2 == 0, half), "int64")
            B[3, tx] = T.cast(T.match_any_sync(tx // 8, half), "int64")
            B[4, tx] = T.cast(T.match_all_sync(tx // 16, mask=half), "int64")
            B[5, tx] = T.cast(T.match_all_sync(tx // 2, mask=half), "int64")

    out = tilelang.compile(main, out_idx=-1)().cpu()
    for t in range(32):
        named = [lane for lane in range(32) if (0xFF00 >> lane & 1 if known else lane // 16 == t // 16)]
        mask = sum(1 << lane for lane in named)
        expected = [
            3 in named,
            all(lane >= 8 for lane in named),
            sum(1 << lane for lane in named if lane % 2 == 0),
            sum(1 << lane for lane in named if lane // 8 == t // 8),
            mask * all(lane // 16 == t // 16 for lane in named),
            0,
        ]
        assert out[:, t].tolist() == expected


def test_places(engine):
    @T.prim_func
    def main(B: T.Tensor((7, 240), "int32")):
        with T.Kernel(1, threads=(6, 10, 4)):
            x, y, z = T.get_thread_bindings()
            number = x + 6 * (y + 10 * z)
            B[0, number] = x
            B[1, number] = y
            B[2, number] = z
            B[3, number] = T.get_lane_idx()
            B[4, number] = T.get_warp_idx(20)
            B[5, number] = T.get_warp_group_idx()
            B[6, number] = T.Cast("int32", T.shuffle_elect(16))

    out = tilelang.compile(main, out_idx=-1)().cpu()
    t = torch.arange(240)
    expected = [t % 6, t // 6 % 10, t // 60, t % 32, t // 20, t // 128, (t % 16 == 0).long()]
    assert torch.equal(out, torch.stack(expected).int().cpu())


def test_loops_of_different_lengths(engine):
    @T.prim_func
    def main(A: T.Tensor((1000,), "int32"), B: T.Tensor((32,), "int32"), C: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            total = T.alloc_var("int32", 0)
            for i in T.serial(tx, 1000, 32):
                if A[i] % 3 == 0:
                    continue
                total += A[i]
            B[tx] = total
            n = T.alloc_var("int32", tx + 1)
            steps = T.alloc_var("int32", 0)
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                steps += 1
            C[tx] = steps

    a = torch.randint(0, 100, (1000,), dtype=torch.int32)
    b, c = torch.zeros(32, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    tilelang.compile(main)(a, b, c)
    kept = torch.where(a % 3 == 0, 0, a)
    assert b.tolist() == [int(kept[t::32].sum()) for t in range(32)]

    def collatz(n):
        return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)

    assert c.tolist() == [collatz(t + 1) for t in range(32)]


def test_tile_operations_beside_threads(engine):
    """A copy and a product of the block, then each thread on its part of the result."""
    n = 32

    @T.prim_func
    def main(A: T.Tensor((n, 64), "float32"), B: T.Tensor((64, n), "float32"), C: T.Tensor((n, n), "float32")):
        with T.Kernel(1, threads=n):
            a, b = T.alloc_shared((n, 16), "float32"), T.alloc_shared((16, n), "float32")
            c = T.alloc_shared((n, n), "float32")
            acc = T.alloc_fragment((n, n), "float32")
            tx = T.get_thread_binding()
            bias = T.alloc_local((1,), "float32")
            T.clear(bias)
            T.clear(acc)
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[0, k * 16], a)
                T.copy(B[k * 16, 0], b)
                for i in T.serial(16):
                    bias[0] += a[tx, i]
                T.gemm(a, b, acc)
            for i, j in T.Parallel(n, n):
                c[i, j] = acc[i, j]
            for j in T.serial(n):
                C[tx, j] = c[tx, j] + bias[0]

    a, b = torch.randint(-4, 5, (n, 64)).float(), torch.randint(-4, 5, (64, n)).float()
    out = tilelang.compile(main, out_idx=-1)(a, b)
    assert torch.equal(out, a @ b + a.sum(1, keepdim=True))


def test_product_of_threads(engine):
    """Each of 4 x 4 threads computes 2 x 4 elements, from arrays of its own that it fills from shared memory."""
    size, own_rows, own_columns, chunk, step = 16, 2, 4, 8, 4

    @T.prim_func
    def main(A: T.Tensor((size, size), "float16"), B: T.Tensor((size, size), "float16"), C: T.Tensor((size, size), "float32")):
        with T.Kernel(size // (4 * own_rows), threads=16) as by:
            a_shared = T.alloc_shared((4 * own_rows, chunk), "float16")
            b_shared = T.alloc_shared((4 * own_columns, chunk), "float16")
            a = T.alloc_local((own_rows, step), "float16")
            b = T.alloc_local((own_columns, step), "float16")
            c = T.alloc_local((own_rows * own_columns,), "float32")
            tid = T.get_thread_binding()
            row, column = tid % 4, tid // 4
            T.clear(c)
            for ko in T.serial(size // chunk):
                for i, k in T.Parallel(4 * own_rows, chunk):
                    a_shared[i, k] = A[by * 4 * own_rows + i, ko * chunk + k]
                T.copy(B[0, ko * chunk], b_shared)
                for ki in T.serial(chunk // step):
                    for i in T.serial(own_rows):
                        for k in T.vectorized(step):
                            a[i, k] = a_shared[row * own_rows + i, ki * step + k]
                    for j in T.serial(own_columns):
                        for k in T.vectorized(step):
                            b[j, k] = b_shared[column * own_columns + j, ki * step + k]
                    for i, j in T.grid(own_rows, own_columns):
                        for k in T.serial(step):
                            c[i * own_columns + j] += T.cast(a[i, k], "float32") * T.cast(b[j, k], "float32")
            for i, j in T.grid(own_rows, own_columns):
                C[(by * 4 + row) * own_rows + i, column * own_columns + j] = c[i * own_columns + j]

    a, b = (torch.randint(-4, 5, (size, size)).half() for _ in range(2))
    out = tilelang.compile(main, out_idx=-1)(a, b)
    assert torch.equal(out, a.float() @ b.float().T)


def test_scattered_elements(engine):
    @T.prim_func
    def main(A: T.Tensor((256,), "int32"), Index: T.Tensor((64,), "int32"), B: T.Tensor((256,), "int32")):
        with T.Kernel(1, threads=64):
            shared = T.alloc_shared((8, 8), "int32")
            own = T.alloc_local((4,), "int32")
            tx = T.get_thread_binding()
            row, column = tx // 8, tx % 8
            shared[row, row ^ column] = A[Index[tx]]
            for j in T.serial(4):
                own[j] = tx + j
            B[Index[tx]] = shared[column, row ^ column] + own[tx % 4]

    index = torch.randperm(256)[:64].int()
    a = torch.arange(256, dtype=torch.int32) * 7
    b = torch.zeros(256, dtype=torch.int32)
    tilelang.compile(main)(a, index, b)
    t = torch.arange(64)
    kept = torch.zeros(8, 8, dtype=torch.int32)
    kept[t // 8, t // 8 ^ t % 8] = a[index.long()]
    expected = torch.zeros(256, dtype=torch.int32)
    expected[index.long()] = kept[t % 8, t // 8 ^ t % 8] + (t + t % 4).int()
    assert torch.equal(b.cpu(), expected.cpu())


def test_atomic_updates(engine):
    @T.prim_func
    def main(A: T.Tensor((512,), "int32"), Count: T.Tensor((8,), "int32"), Order: T.Tensor((128,), "int32")):
        with T.Kernel(4, threads=128) as bx:
            bins = T.alloc_shared((8,), "int32")
            tx = T.get_thread_binding()
            if tx < 8:
                bins[tx] = 0
            T.sync_threads()
            T.atomic_add(bins[A[bx * 128 + tx]], 1)
            T.sync_threads()
            if tx < 8:
                T.atomic_add(Count[tx], bins[tx])
            if bx == 0:
                place = T.atomic_add(bins[0], 1, return_prev=True)
                Order[tx] = place

    a = torch.randint(0, 8, (512,), dtype=torch.int32)
    count, order = torch.zeros(8, dtype=torch.int32), torch.zeros(128, dtype=torch.int32)
    tilelang.compile(main)(a, count, order)
    assert torch.equal(count.cpu(), a.cpu().bincount(minlength=8).int())
    assert (order.sort().values.diff() == 1).all()


@pytest.mark.parametrize("threads", [(32, 4), (8, 16), (64, 2)])
def test_allreduce(threads, engine):
    lanes, rows = threads

    @T.prim_func
    def main(A: T.Tensor((rows, lanes), "int32"), B: T.Tensor((rows, lanes), "int32"), C: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=threads):
            tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)
            value, result = T.alloc_local((1,), "int32"), T.alloc_local((1,), "int32")
            value[0] = A[ty, tx]
            with T.attr(
                T.comm_reducer(lambda x, y: x + y, [T.cast(0, "int32")]), "reduce_scope", T.reinterpret(T.uint64(0), "handle")
            ):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), value[0], True, result[0], tx, dtype="handle"))
            B[ty, tx] = result[0]
            with T.attr(T.comm_reducer(lambda x, y: T.max(x, y), [T.min_value("int32")]), "reduce_scope", 0):
                T.tvm_thread_allreduce(1, value[0], True, result[0], tx, ty, dtype="handle")
            if tx == 0 and ty == 0:
                C[0] = result[0]

    a = torch.randint(-100, 100, (rows, lanes), dtype=torch.int32)
    b, c = torch.zeros_like(a), torch.zeros(1, dtype=torch.int32)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(b, a.sum(1, keepdim=True).expand(rows, lanes).int())
    assert int(c[0]) == int(a.max())


def test_warp_reductions(engine):
    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((5, 64), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            x = A[tx]
            B[0, tx] = T.warp_reduce_sum(x)
            B[1, tx] = T.warp_reduce_max(x)
            B[2, tx] = T.warp_reduce_min(x)
            B[3, tx] = T.warp_reduce_bitand(x)
            B[4, tx] = T.warp_reduce_bitor(x)

    a = torch.randint(0, 1 << 20, (64,), dtype=torch.int32)
    out = tilelang.compile(main, out_idx=-1)(a)
    for warp in range(2):
        part = a[32 * warp : 32 * warp + 32].tolist()
        all_bits, some_bits = part[0], 0
        for x in part:
            all_bits, some_bits = all_bits & x, some_bits | x
        expected = torch.tensor([sum(part), max(part), min(part), all_bits, some_bits])
        assert (out[:, 32 * warp : 32 * warp + 32] == expected[:, None]).all()


def test_thread_loops(engine):
    @T.prim_func
    def main(A: T.Tensor((4, 40), "int32"), B: T.Tensor((4, 40), "int32")):
        with T.Kernel(4, threads=64) as bx:
            for tx in T.thread_binding(40, "threadIdx.x"):
                B[bx, tx] = A[bx, tx] + T.launch_thread("threadIdx.x", 64)

    a = torch.randint(0, 100, (4, 40), dtype=torch.int32)
    out = tilelang.compile(main, out_idx=-1)(a)
    assert torch.equal(out, a + torch.arange(40, dtype=torch.int32))


def test_a_name_for_the_index_of_a_loop_over_threads(engine):
    @T.prim_func
    def main(A: T.Tensor((4, 64), "int32"), B: T.Tensor((4, 64), "int32")):
        with T.Kernel(4, threads=64):
            tx = T.thread_binding(0, 64, thread="threadIdx.x")
            bx = T.thread_binding(4, "blockIdx.x")
            if tx % 3 == 1:
                B[bx, tx] = A[bx, 63 - tx] + tx
            else:
                B[bx, tx] = -tx

    a = torch.randint(0, 100, (4, 64), dtype=torch.int32)
    thread = torch.arange(64, dtype=torch.int32)
    out = tilelang.compile(main, out_idx=-1)(a)
    assert torch.equal(out, torch.where(thread % 3 == 1, a.flip(1) + thread, -thread))


def test_a_name_for_the_index_of_fewer_threads_than_the_block_has():
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.thread_binding(40, "threadIdx.x")
            A[tx] = 1

    with pytest.raises(ValueError, match="of 40 threads: the block has 64 along this axis"):
        T.prim_func(main)


def test_what_some_threads_do_together(engine):
    """A copy under `if tx < 64` is a whole copy; an atomic update is each thread's."""

    @T.prim_func
    def copies(A: T.Tensor((32, 32), "float32"), B: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((32, 32), "float32")
            if T.get_thread_binding() < 64:
                T.copy(A, tile)
            T.copy(tile, B)

    @T.prim_func
    def counts(C: T.Tensor((1,), "int32"), D: T.Tensor((128,), "int32")):
        with T.Kernel(1, threads=128):
            tx = T.get_thread_binding()
            which = T.alloc_var("int32", 0)
            if tx < 40:
                T.atomic_add(C[0], 1)
                which = 1
            elif tx >= 100:
                which = 2
            D[tx] = which

    a, b = torch.randn(32, 32), torch.zeros(32, 32)
    tilelang.compile(copies)(a, b)
    assert torch.equal(a, b)
    c, d = torch.zeros(1, dtype=torch.int32), torch.zeros(128, dtype=torch.int32)
    tilelang.compile(counts)(c, d)
    assert c.tolist() == [40] and d.tolist() == [1] * 40 + [0] * 60 + [2] * 28


def test_words(engine):
    """Several elements as one: loads, stores, four products at once."""

    @T.prim_func
    def main(
        A: T.Tensor((256,), "int8"),
        B: T.Tensor((256,), "int8"),
        C: T.Tensor((64,), "int32"),
        X: T.Tensor((64,), "float32"),
        Y: T.Tensor((64,), "float32"),
    ):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            acc = T.alloc_local((1,), "int32")
            acc[0] = tx
            T.dp4a(A[tx * 4], B[tx * 4], acc[0])
            C[tx] = acc[0]
            if tx < 16:
                T.stg128(Y[tx * 4 : tx * 4 + 4], T.ldg128(X[tx * 4 : tx * 4 + 4], pred=tx < 8))

    a, b = (torch.randint(-128, 128, (256,)).to(torch.int8) for _ in range(2))
    c, x, y = torch.zeros(64, dtype=torch.int32), torch.randn(64), torch.ones(64)
    tilelang.compile(main)(a, b, c, x, y)
    products = (a.int() * b.int()).reshape(64, 4).sum(1)
    assert torch.equal(c, (products + torch.arange(64)).int())
    assert torch.equal(y, torch.where(torch.arange(64) < 32, x, 0))


def test_tensors_that_nothing_uses_go(engine):
    from tilery.tilelang.transform import simplify

    @simplify.simplify_prim_func
    def program(biased):
        @T.prim_func
        def main(A: T.Tensor((64,), "float32"), Bias: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                tx = T.get_thread_binding()
                if biased:
                    B[tx] = A[tx] + Bias[tx]
                else:
                    B[tx] = A[tx]

        return main

    a, bias, b = torch.randn(64), torch.randn(64), torch.zeros(64)
    tilelang.compile(program(False))(a, b)
    assert torch.equal(a, b)
    tilelang.compile(program(True))(a, bias, b)
    assert torch.equal(a + bias, b)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_places_outside_of_the_group(width, engine):
    """A place of an `idx` wraps around in the group; `xor` reaches earlier groups, but no later ones."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((7, 64), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            B[0, tx] = T.shfl_sync(tx * 3, tx, width)
            B[1, tx] = T.shfl_sync(tx * 3, A[tx], width)
            B[2, tx] = T.shfl_sync(tx * 3, 21, width)
            B[3, tx] = T.shfl_sync(tx * 3, -1, width)
            B[4, tx] = T.shfl_xor(tx * 3, 5, width)
            B[5, tx] = T.shfl_xor(tx * 3, A[tx] % 32, width)
            B[6, tx] = T.shfl_xor(tx * 3, 16, width)

    a = torch.randint(0, 1000, (64,), dtype=torch.int32)
    b = torch.full((7, 64), -9, dtype=torch.int32)
    tilelang.compile(main)(a, b)
    t = torch.arange(64)
    first = t // width * width

    def across(by):
        other = t ^ by
        return torch.where(other % 32 // width > t % 32 // width, t, other)

    places = [first + t % width, first + a % width, first + 21 % width, first + width - 1, across(5), across(a % 32), across(16)]
    assert torch.equal(b, torch.stack(places).int() * 3)
