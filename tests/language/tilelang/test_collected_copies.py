"""Pipelines written by hand, whose threads copy some elements each, in loops over rows and columns: the loops are copies of
boxes where they cover a window in order, and copies of elements elsewhere."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


@tilelang.jit
def pipeline(m, n, d, steps, rows, how):
    """how: where a producer's thread reads and writes."""

    @T.prim_func
    def main(Q: T.Tensor((m, d), "float16"), K: T.Tensor((rows, 2 * d), "float16"), Out: T.Tensor((steps, m, n), "float32")):
        with T.Kernel(1, threads=256):
            q, k = T.alloc_shared((m, d), "float16"), T.alloc_shared((2, n, d), "float16")
            scores = T.alloc_fragment((m, n), "float32")
            asked = T.alloc_barrier(arrive_count=256)
            ready, free = T.alloc_barrier(arrive_count=[128] * 2), T.alloc_barrier(arrive_count=[128] * 2)
            tx = T.get_thread_binding()
            T.copy(Q, q)
            T.barrier_arrive(asked)
            if tx < 128:
                T.barrier_wait(asked, 0)
                for i in T.serial(steps // 2):
                    for stage in T.unroll(2):
                        T.barrier_wait(ready[stage], i & 1)
                        if how == "halves":
                            T.gemm(q[:, : d // 2], k[stage, :, : d // 2], scores, transpose_B=True, clear_accum=True)
                            T.gemm(q[:, d // 2 :], k[stage, :, d // 2 :], scores, transpose_B=True)
                        else:
                            T.gemm(q, k[stage, :, :], scores, transpose_B=True, clear_accum=True)
                        T.copy(scores, Out[i * 2 + stage, :, :])
                        T.barrier_arrive(free[stage])
            else:
                for i in T.serial(steps // 2):
                    for stage in T.unroll(2):
                        T.barrier_wait(free[stage], (i & 1) ^ 1)
                        for r in T.serial(n // 16):
                            for u in T.serial(d // 64):
                                row = r * 16 + (tx - 128) // 8
                                column = 64 * u + (tx - 128) % 8 * 8
                                to = n - 1 - row if how == "reversed" else row
                                at = 2 * row if how == "every other" else row
                                begin = d if how == "right" else 0
                                T.ptx_cp_async(
                                    T.access_ptr(k[stage, to, column], "w", 8),
                                    T.access_ptr(K[(i * 2 + stage) * n + at, begin + column], "r", 8),
                                    8,
                                )
                        T.cp_async_barrier_noinc(ready[stage])

    return main


@pytest.mark.parametrize("how", ["plain", "halves", "reversed", "every other", "right"])
@pytest.mark.parametrize("m, n, d, steps", [(64, 64, 128, 4), (64, 32, 64, 2), (128, 64, 64, 4)])
@pytest.mark.parametrize("missing", [0, 5])
def test_pipelines(device, how, m, n, d, steps, missing):
    g = torch.Generator().manual_seed(m + n + d)
    rows = (steps + 1) * n - missing - (n if missing else 0)
    q = torch.randint(-2, 3, (m, d), generator=g, device="cpu").double()
    k = torch.randint(-2, 3, (rows, 2 * d), generator=g, device="cpu").double()
    out = torch.full((steps, m, n), float("nan"), device=device)
    pipeline(m, n, d, steps, rows, how)(q.half().to(device), k.half().to(device), out)
    whole = torch.cat([k, torch.zeros(3 * n, 2 * d, dtype=torch.double, device="cpu")])
    for step in range(steps):
        at = step * n + torch.arange(n, device="cpu") * (2 if how == "every other" else 1)
        part = whole[at][:, d:] if how == "right" else whole[at][:, :d]
        part = part.flip(0) if how == "reversed" else part
        assert torch.equal(out[step].double().cpu(), q @ part.T), step


@tilelang.jit
def turned(n, d):
    """Copies of single elements that exchange rows and columns, and leave a part of the buffer as it was."""

    @T.prim_func
    def main(A: T.Tensor((n, d), "float32"), Out: T.Tensor((d, n + 1), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_shared((d, n + 1), "float32")
            T.clear(x)
            tx = T.get_thread_binding()
            for r in T.serial(n // 4):
                for u in T.serial(d // 32):
                    x[u * 32 + tx % 32, r * 4 + tx // 32] = A[r * 4 + tx // 32, u * 32 + tx % 32]
            T.sync_threads()
            T.copy(x, Out)

    return main


@pytest.mark.parametrize("n, d", [(4, 32), (16, 64)])
def test_turned(device, n, d):
    a = torch.randn(n, d, device="cpu")
    out = torch.full((d, n + 1), float("nan"), device=device)
    turned(n, d)(a.to(device), out)
    assert torch.equal(out.cpu(), torch.cat([a.T, torch.zeros(d, 1, device="cpu")], 1))
