"""Roles of warp groups whose code is code of single threads: indices of threads, memory of each thread's own, shuffles,
barriers at which each thread arrives. By the oracle, which runs threads and roles side by side, and by machine code."""

import math
from pathlib import Path

import pytest
import torch
from language.attention import attention_with_bound

from tilery import _native, compat, tilelang
from tilery.errors import Error
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts

pytestmark = pytest.mark.usefixtures("engine")
ROWS, BLOCK, WIDTH = 96, 16, 32
GATHERED = compat.load(Path(__file__).parents[2] / "gpu" / "gathered_rows_programs.py")


def run(function, *arguments):
    tilelang.compile(function)(*arguments)


def for_gpus(function):
    """Roles become one thread of control on GPUs, too."""
    module = tilelang.compile(function).traced(usual_layouts(function.params)).module
    for target in ("sm_80", "sm_90a"):
        assert _native.compile(module, target=target, texts=True).asm


def gathered(steps, stages, outside):
    """A producer whose threads gather rows by indices; `outside`: what each of them keeps is allocated before the roles."""

    @T.prim_func
    def main(
        X: T.Tensor((ROWS, WIDTH), "float16"),
        Index: T.Tensor((steps * BLOCK,), "int32"),
        Y: T.Tensor((steps * BLOCK, WIDTH), "float16"),
    ):
        with T.Kernel(1, threads=256):
            rows = T.alloc_shared((stages, BLOCK, WIDTH), "float16")
            valid = T.alloc_shared((stages, BLOCK), "bool")
            ready, free = T.alloc_barrier([128] * stages), T.alloc_barrier([128] * stages)
            tx = T.get_thread_binding()
            row, part = (tx - 128) // 8, tx % 8 * 4
            if outside:
                index = T.alloc_local([1], "int32")
            if tx < 128:
                T.set_max_nreg(240, 1)
                for i in T.serial(steps):
                    T.barrier_wait(ready[i % stages], (i // stages) & 1)
                    for r, c in T.Parallel(BLOCK, WIDTH):
                        Y[i * BLOCK + r, c] = T.if_then_else(valid[i % stages, r], rows[i % stages, r, c], T.float16(0))
                    T.barrier_arrive(free[i % stages])
            else:
                T.set_max_nreg(80, 0)
                if not outside:
                    index = T.alloc_local([1], "int32")
                for i in T.serial(steps):
                    T.barrier_wait(free[i % stages], (i // stages & 1) ^ 1)
                    index[0] = Index[i * BLOCK + row]
                    valid[i % stages, row] = index[0] >= 0
                    if valid[i % stages, row]:
                        for v in T.vectorized(4):
                            rows[i % stages, row, part + v] = X[index[0], part + v]
                    T.cp_async_barrier_noinc(ready[i % stages])

    return main


@pytest.mark.parametrize("steps, stages, outside", [(5, 1, True), (5, 2, True), (4, 2, False)])
def test_threads_of_a_producer_gather_rows(steps, stages, outside):
    torch.manual_seed(0)
    x, index = torch.randn(ROWS, WIDTH).half(), torch.randint(-ROWS // 3, ROWS, (steps * BLOCK,), dtype=torch.int32)
    out = torch.full((steps * BLOCK, WIDTH), 9.0).half()
    run(gathered(steps, stages, outside), x, index, out)
    assert (out == torch.where((index >= 0)[:, None], x[index.clamp(min=0).long()], torch.zeros(()).half())).all()
    for_gpus(gathered(steps, stages, outside))


@pytest.mark.parametrize("form", [("branch",), (8, 8, True), (4, 8, False), (32, 1, False)])
def test_rows_that_nobody_asked_for_change_nothing(form):
    """Attention over gathered rows, by tile code and by roles whose threads gather; rows that are left out are never zeroed."""
    queries, heads, rows, topk, dim, tail, depth = 2, 16, 40, 128, 32, 32, 2
    torch.manual_seed(0)
    q = torch.randn(queries, heads, dim + tail).bfloat16()
    kv = torch.randn(rows, dim + tail).bfloat16()
    seen = torch.rand(queries, topk) < torch.tensor([[0.6], [0.02]])
    seen[:, 0] = True
    indices = torch.where(seen, torch.randint(0, rows, (queries, topk)), -1).int()
    out = torch.full((queries, heads, dim), float("nan")).bfloat16()
    make = GATHERED.stages if len(form) == 1 else GATHERED.roles
    make(queries, heads, rows, topk, dim, tail, depth, *form)(q, kv, indices, out)
    keys = kv[indices.clamp(min=0).long()]
    exact, bound = attention_with_bound(q, keys, keys[..., :dim], block=64, scale=(dim + tail) ** -0.5, mask=seen[:, None])
    assert ((out.double() - exact).abs() <= bound).all()


def test_what_threads_keep_lasts_from_role_to_role():
    @T.prim_func
    def main(X: T.Tensor((6, 128), "float32"), Y: T.Tensor((2, 128), "float32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((128,), "float32")
            total, count = T.alloc_local([2], "float32"), T.alloc_var("int32", init=3)
            full, empty = T.alloc_barrier(128), T.alloc_barrier(128)
            tx = T.get_thread_binding()
            T.clear(total)
            for k in T.serial(6):
                with T.ws(0):
                    T.barrier_wait(empty, (k + 1) % 2)
                    T.copy(X[k, :], tile)
                    T.barrier_arrive(full)
                with T.ws(1):
                    T.barrier_wait(full, k % 2)
                    total[0] += tile[tx - 128]
                    total[1] = T.max(total[1], tile[(tx + 1) % 128])
                    if tx % 3 == 0:
                        count += 1
                    T.barrier_arrive(empty)
            with T.ws(1):
                Y[0, tx - 128] = total[0] + T.cast(count, "float32")
                Y[1, tx - 128] = total[1]

    x = torch.randint(-9, 9, (6, 128)).float()
    out = torch.empty(2, 128)
    run(main, x, out)
    threads = torch.arange(128, 256)
    assert (out[0] == x.sum(0) + 3 + 6 * (threads % 3 == 0)).all()
    assert (out[1] == x.roll(-1, 1)[:, (threads + 0) % 128].max(0).values.clamp(min=0)).all()
    for_gpus(main)


def test_warps_of_a_role_add_up_and_one_thread_of_each_arrives():
    @T.prim_func
    def main(X: T.Tensor((4, 128), "float32"), Y: T.Tensor((4, 4), "float32")):
        with T.Kernel(1, threads=256):
            sums = T.alloc_shared((4,), "float32")
            full, empty = T.alloc_barrier(4), T.alloc_barrier(128)
            tx = T.get_thread_binding()
            lane, warp = tx % 32, tx // 32
            with T.ws(0):
                for k in T.serial(4):
                    T.barrier_wait(empty, (k & 1) ^ 1)
                    s = T.warp_reduce_sum(X[k, tx])
                    if lane == 0:
                        sums[warp] = s
                        T.barrier_arrive(full)
            with T.ws(1):
                for k in T.serial(4):
                    T.barrier_wait(full, k & 1)
                    T.copy(sums, Y[k, :])
                    T.barrier_arrive(empty)

    x = torch.randint(-50, 50, (4, 128)).float()
    out = torch.empty(4, 4)
    run(main, x, out)
    assert (out == x.view(4, 4, 32).sum(-1)).all()
    for_gpus(main)


def test_one_thread_of_a_role_of_threads_copies_a_tile():
    @T.prim_func
    def main(X: T.Tensor((4, 128), "float32"), W: T.Tensor((128,), "float32"), Y: T.Tensor((4, 128), "float32")):
        with T.Kernel(1, threads=256):
            tile, weights = T.alloc_shared((128,), "float32"), T.alloc_shared((128,), "float32")
            full, empty = T.alloc_barrier(129), T.alloc_barrier(128)
            tx = T.get_thread_binding()
            with T.ws(1):
                for k in T.serial(4):
                    T.barrier_wait(empty, (k & 1) ^ 1)
                    weights[tx - 128] = W[tx - 128] * k
                    if tx == 128:
                        T.tma_copy(X[k, :], tile, barrier=full)
                        T.barrier_arrive(full)
                    T.barrier_arrive(full)
            with T.ws(0):
                for k in T.serial(4):
                    T.barrier_wait(full, k & 1)
                    Y[k, tx] = tile[tx] + weights[tx]
                    T.barrier_arrive(empty)

    x, w = torch.randint(-50, 50, (4, 128)).float(), torch.randint(-50, 50, (128,)).float()
    out = torch.empty(4, 128)
    run(main, x, w, out)
    assert (out == x + w * torch.arange(4)[:, None]).all()
    for_gpus(main)


@pytest.mark.parametrize("of_group", [True, False])
def test_roles_by_the_number_of_a_warp_or_group(of_group):
    @T.prim_func
    def main(X: T.Tensor((4, 128), "float32"), Y: T.Tensor((4, 128), "float32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((128,), "float32")
            full, empty = T.alloc_barrier(128), T.alloc_barrier(128)
            number = T.get_warp_group_idx() if of_group else T.get_warp_idx_sync() // 4
            lane, tx = T.get_lane_idx(), T.get_thread_binding()
            if number == 0:
                for k in T.serial(4):
                    T.barrier_wait(empty, (k & 1) ^ 1)
                    T.copy(X[k, :], tile)
                    T.barrier_arrive(full)
            else:
                for k in T.serial(4):
                    T.barrier_wait(full, k & 1)
                    Y[k, tx - 128] = tile[tx - 128] + lane
                    T.barrier_arrive(empty)

    x, out = torch.randint(-50, 50, (4, 128)).float(), torch.empty(4, 128)
    run(main, x, out)
    assert (out == x + torch.arange(128) % 32).all()
    for_gpus(main)


def test_groups_apart_are_one_role_and_indices_of_two_axes():
    @T.prim_func
    def main(Y: T.Tensor((384,), "int32"), P: T.Tensor((128,), "int32")):
        with T.Kernel(1, threads=(64, 6)):
            tile = T.alloc_shared((384,), "int32")
            done = T.alloc_barrier(256)
            tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)
            with T.ws(0, 2):
                tile[ty * 64 + tx] = ty * 1000 + tx
                T.barrier_arrive(done)
            with T.ws(1):
                P[ty * 64 + tx - 128] = ty
                T.barrier_wait(done, 0)
                for i in T.Parallel(128):
                    Y[i] = tile[i]
                    Y[i + 256] = tile[i + 256]

    out, part = torch.full((384,), -1, dtype=torch.int32), torch.empty(128, dtype=torch.int32)
    run(main, out, part)
    threads = torch.arange(384, dtype=torch.int32)
    there = (threads < 128) | (threads >= 256)
    assert (out == torch.where(there, threads // 64 * 1000 + threads % 64, -1)).all()
    assert (part == threads[128:256] // 64).all()
    for_gpus(main)


@pytest.mark.parametrize("most", [100, 200])
def test_threads_that_a_number_of_the_call_chooses_arrive(most):
    @T.prim_func
    def main(X: T.Tensor((128,), "float32"), n: T.int32, Y: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((128,), "float32")
            full = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            with T.ws(0):
                if tx < n:
                    tile[tx] = X[tx]
                    T.barrier_arrive(full)
                if tx >= n:
                    tile[tx] = 0.0
                    T.barrier_arrive(full)
            with T.ws(1):
                T.barrier_wait(full, 0)
                T.copy(tile, Y)

    x, out = torch.randn(128), torch.empty(128)
    run(main, x, most, out)
    assert (out == torch.where(torch.arange(128) < most, x, 0.0)).all()


@pytest.mark.parametrize("waiting", ["a warp", "data", "one thread"])
def test_some_threads_of_a_role_wait(waiting):
    @T.prim_func
    def main(X: T.Tensor((128,), "int32"), Y: T.Tensor((128,), "int32")):
        with T.Kernel(1, threads=256):
            own = T.alloc_shared((128,), "int32")
            full = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            with T.ws(0):
                own[tx] = X[tx] * 2
                T.mbarrier_arrive(full)
            with T.ws(1):
                if waiting == "a warp":
                    if tx < 160:
                        T.mbarrier_wait_parity(full, 0)
                        Y[tx - 128] = own[tx - 128]
                elif waiting == "data":
                    if X[tx - 128] > 60:
                        T.mbarrier_wait_parity(full, 0)
                        Y[tx - 128] = own[tx - 128]
                elif T.shuffle_elect(128):
                    T.mbarrier_wait_parity(full, 0)
                    for i in T.serial(128):
                        Y[i] = own[i]

    x, out = torch.arange(128, dtype=torch.int32), torch.zeros(128, dtype=torch.int32)
    run(main, x, out)
    there = {"a warp": x < 32, "data": x > 60, "one thread": x >= 0}[waiting]
    assert torch.equal(out, torch.where(there, 2 * x, 0))
    for_gpus(main)


def test_barriers_of_warps():
    """Each warp arrives at a barrier of its own, and waits at the next one's; some threads wait once more."""

    @T.prim_func
    def main(X: T.Tensor((128,), "int32"), Y: T.Tensor((128,), "int32")):
        with T.Kernel(1, threads=128):
            own = T.alloc_shared((128,), "int32")
            full = T.alloc_barrier([32] * 4)
            tx = T.get_thread_binding()
            own[tx] = X[tx] * 5
            T.mbarrier_arrive(full[tx // 32])
            T.mbarrier_wait_parity(full[(tx // 32 + 1) % 4], 0)
            Y[tx] = own[(tx + 32) % 128]
            if tx % 3 == 0:
                T.mbarrier_wait_parity(full[0], 0)
                Y[tx] = Y[tx] + own[0] + own[tx % 32]

    x, out = torch.arange(1, 129, dtype=torch.int32), torch.zeros(128, dtype=torch.int32)
    run(main, x, out)
    lane = torch.arange(128)
    more = torch.where(lane % 3 == 0, 5 + 5 * x[lane % 32], 0)
    assert torch.equal(out, torch.roll(5 * x, -32) + more)
    for_gpus(main)


def test_a_wait_that_nobody_ends_is_reported():
    @T.prim_func
    def main(X: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            full = T.alloc_barrier(64)
            tx = T.get_thread_binding()
            if X[tx] > 0:
                T.mbarrier_arrive(full)
            T.mbarrier_wait_parity(full, 0)
            X[tx] = 7

    kernel = tilelang.compile(main)
    x = torch.ones(64, dtype=torch.int32)
    kernel(x)
    assert (x == 7).all()
    if x.device.type == "cpu":
        with pytest.raises(Error, match="waits for ever for `full`|wait for ever|deadlock"):
            kernel(torch.zeros(64, dtype=torch.int32))


@pytest.mark.parametrize("flow", ["branch", "loop"])
def test_roles_in_flow_of_single_threads(flow):
    """There a role is a branch on the number of the thread."""

    @T.prim_func
    def main(X: T.Tensor((256,), "int32"), Y: T.Tensor((256,), "int32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            own = T.alloc_local((1,), "int32")
            own[0] = tx
            if flow == "branch":
                if tx % 2 == 0:
                    with T.ws(0):
                        Y[tx] = X[tx] + own[0]
                with T.ws(1):
                    Y[tx] = X[tx] * 3
            else:
                for _ in T.serial(tx % 3):
                    with T.ws(0):
                        Y[tx] = Y[tx] + 1
                    with T.ws(1):
                        Y[tx] = Y[tx] + X[tx]

    x, out = torch.arange(256, dtype=torch.int32), torch.zeros(256, dtype=torch.int32)
    run(main, x, out)
    first = torch.where(x % 2 == 0, 2 * x, 0) if flow == "branch" else x % 3
    second = 3 * x if flow == "branch" else x % 3 * x
    assert torch.equal(out, torch.where(x < 128, first, second))


def attention(heads, tail, keys, chosen):
    """Attention of one query over keys that indices choose: two groups share the values' columns, a third one gathers."""
    width, block, scale = 64, 32, 1 / math.sqrt(64 + tail) * math.log2(math.e)
    half, steps = width // 2, chosen // block

    @T.prim_func
    def main(
        Q: T.Tensor((heads, width + tail), "float16"),
        KV: T.Tensor((keys, width + tail), "float16"),
        Index: T.Tensor((chosen,), "int32"),
        Y: T.Tensor((heads, width), "float32"),
    ):
        with T.Kernel(1, threads=384):
            q, q_tail = T.alloc_shared((heads, width), "float16"), T.alloc_shared((heads, tail), "float16")
            kv_l, kv_r = T.alloc_shared((2, block, half), "float16"), T.alloc_shared((2, block, half), "float16")
            k_tail, valid = T.alloc_shared((2, block, tail), "float16"), T.alloc_shared((2, block), "bool")
            p, alpha_s, sum_s = (
                T.alloc_shared((heads, block), "float16"),
                T.alloc_shared((heads,), "float32"),
                T.alloc_shared((heads,), "float32"),
            )
            s, o_l, o_r = (
                T.alloc_fragment((heads, block), "float32"),
                T.alloc_fragment((heads, half), "float32"),
                T.alloc_fragment((heads, half), "float32"),
            )
            total, part, most, before, alpha = (T.alloc_fragment((heads,), "float32") for _ in range(5))
            index = T.alloc_local([1], "int32")
            bar_q, ready, free = T.alloc_barrier(384), T.alloc_barrier([128] * 2), T.alloc_barrier([256] * 2)
            p_ready, p_free, last = T.alloc_barrier(128), T.alloc_barrier(128), T.alloc_barrier(128)
            tx = T.get_thread_binding()
            T.copy(Q[:, 0:width], q)
            T.copy(Q[:, width : width + tail], q_tail)
            T.barrier_arrive(bar_q)
            if tx < 128:
                T.set_max_nreg(240, 1)
                T.fill(total, 0)
                T.fill(most, -(2.0**30))
                T.fill(o_l, 0)
                T.barrier_wait(bar_q, 0)
                for i in T.serial(steps):
                    T.barrier_wait(ready[i % 2], (i // 2) & 1)
                    for h, j in T.Parallel(heads, block):
                        s[h, j] = T.if_then_else(valid[i % 2, j], 0, -T.infinity("float32"))
                    T.gemm(q[:, 0:half], kv_l[i % 2, :, :], s, transpose_B=True)
                    T.gemm(q[:, half:width], kv_r[i % 2, :, :], s, transpose_B=True)
                    T.gemm(q_tail, k_tail[i % 2, :, :], s, transpose_B=True)
                    T.copy(most, before)
                    T.reduce_max(s, most, dim=1, clear=False)
                    for h in T.Parallel(heads):
                        alpha[h] = T.exp2((before[h] - most[h]) * scale)
                    for h, j in T.Parallel(heads, block):
                        s[h, j] = T.exp2(s[h, j] * scale - most[h] * scale)
                    T.reduce_sum(s, part, dim=1)
                    for h in T.Parallel(heads):
                        total[h] = total[h] * alpha[h] + part[h]
                    T.barrier_wait(p_free, (i & 1) ^ 1)
                    T.copy(s, p)
                    T.copy(alpha, alpha_s)
                    T.barrier_arrive(p_ready)
                    for h, d in T.Parallel(heads, half):
                        o_l[h, d] *= alpha[h]
                    T.gemm(p, kv_l[i % 2, :, :], o_l)
                    T.barrier_arrive(free[i % 2])
                T.copy(total, sum_s)
                T.barrier_arrive(last)
                for h, d in T.Parallel(heads, half):
                    o_l[h, d] /= total[h]
                T.copy(o_l, Y[:, 0:half])
            elif tx >= 128 and tx < 256:
                T.set_max_nreg(168, 1)
                T.fill(o_r, 0)
                for i in T.serial(steps):
                    T.barrier_wait(p_ready, i & 1)
                    for h, d in T.Parallel(heads, half):
                        o_r[h, d] *= alpha_s[h]
                    T.gemm(p, kv_r[i % 2, :, :], o_r)
                    T.barrier_arrive(p_free)
                    T.barrier_arrive(free[i % 2])
                T.barrier_wait(last, 0)
                for h, d in T.Parallel(heads, half):
                    o_r[h, d] /= sum_s[h]
                T.copy(o_r, Y[:, half:width])
            elif tx >= 256:
                T.set_max_nreg(80, 0)
                for i in T.serial(steps):
                    T.barrier_wait(free[i % 2], ((i // 2) & 1) ^ 1)
                    for r in T.serial(block // 16):
                        row = r * 16 + (tx - 256) // 8
                        index[0] = Index[i * block + row]
                        valid[i % 2, row] = index[0] >= 0
                        if valid[i % 2, row]:
                            with T.attr("default", "async_scope", 1):
                                for v in T.vectorized(4):
                                    kv_l[i % 2, row, (tx - 256) % 8 * 4 + v] = KV[index[0], (tx - 256) % 8 * 4 + v]
                                    kv_r[i % 2, row, (tx - 256) % 8 * 4 + v] = KV[index[0], half + (tx - 256) % 8 * 4 + v]
                                for v in T.vectorized(tail // 8):
                                    k_tail[i % 2, row, (tx - 256) % 8 * (tail // 8) + v] = KV[
                                        index[0], width + (tx - 256) % 8 * (tail // 8) + v
                                    ]
                        else:  # what nobody wrote may be no number, which a weight of 0 does not hide
                            for v in T.serial(half // 8):
                                kv_l[i % 2, row, (tx - 256) % 8 * 4 + v] = 0
                                kv_r[i % 2, row, (tx - 256) % 8 * 4 + v] = 0
                            for v in T.serial(tail // 8):
                                k_tail[i % 2, row, (tx - 256) % 8 * (tail // 8) + v] = 0
                    T.cp_async_barrier_noinc(ready[i % 2])

    return main


def test_attention_over_chosen_keys_by_three_roles():
    heads, tail, keys, chosen = 16, 16, 200, 128
    torch.manual_seed(1)
    q, kv = torch.randn(heads, 64 + tail).half(), torch.randn(keys, 64 + tail).half()
    index = torch.randperm(keys)[:chosen].int()
    index[5::7] = -1
    out = torch.empty(heads, 64)
    run(attention(heads, tail, keys, chosen), q, kv, index, out)
    kept = kv[index[index >= 0].long()].double()
    weights = torch.softmax(q.double() @ kept.T / math.sqrt(64 + tail), -1)
    # Weights are rounded to f16: half a unit of 2^-11 each, times values of a few.
    torch.testing.assert_close(out.double(), weights @ kept[:, :64], rtol=2e-3, atol=2e-3)
    for_gpus(attention(heads, tail, keys, chosen))


def test_code_of_single_threads_before_between_and_after_roles():
    @T.prim_func
    def main(X: T.Tensor((3, 256), "float32"), Y: T.Tensor((3, 128), "float32"), Z: T.Tensor((256,), "float32")):
        with T.Kernel(1, threads=256):
            tile, done = T.alloc_shared((256,), "float32"), T.alloc_barrier(128)
            tx = T.get_thread_binding()
            mine = T.alloc_local((1,), "float32")
            mine[0] = X[0, 255 - tx]
            for k in T.serial(3):
                tile[tx] = X[k, tx] * 2
                T.sync_threads()
                with T.ws(0):
                    tile[tx] += 1
                    T.barrier_arrive(done)
                with T.ws(1):
                    T.barrier_wait(done, k & 1)
                    for i in T.Parallel(128):
                        Y[k, i] = tile[i] + tile[i + 128]
                T.sync_threads()
            if tx % 2 == 0:
                Z[tx] = mine[0] + tile[tx]
            else:
                Z[tx] = mine[0]

    x = torch.randint(-9, 9, (3, 256)).float()
    out, last = torch.empty(3, 128), torch.empty(256)
    run(main, x, out, last)
    threads = torch.arange(256)
    assert (out == 2 * x[:, :128] + 1 + 2 * x[:, 128:]).all()
    assert (last == x[0].flip(0) + torch.where(threads % 2 == 0, 2 * x[2] + (threads < 128), 0.0)).all()
    for_gpus(main)
