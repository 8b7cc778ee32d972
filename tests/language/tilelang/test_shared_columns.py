"""Products of 64 rows whose sums, together, are more than a warpgroup's registers: two warpgroups share their columns, however
the program cuts them into products."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts

M, N, STEPS = 64, 32, 3
CUTS = {"halves": (256, 256), "thirds": (160, 160, 160), "quarters": (128, 128, 128, 128), "uneven": (256, 128, 64)}


@tilelang.jit
def weighted(cuts, how):
    """Out = relu(Q K^T) K, column by column of `cuts`, in steps of N rows of K. `how`: what is done with the sums."""
    d = sum(cuts)
    begins = [sum(cuts[:i]) for i in range(len(cuts))]

    @T.prim_func
    def main(
        Q: T.Tensor((M, d), "float16"),
        K: T.Tensor((STEPS * N, d), "float16"),
        Out: T.Tensor((M, d), "float32"),
        Rows: T.Tensor((M,), "float32"),
    ):
        with T.Kernel(1, threads=128):
            q, k = T.alloc_shared((M, d), "float16"), T.alloc_shared((N, d), "float16")
            scores, weights = T.alloc_fragment((M, N), "float32"), T.alloc_fragment((M, N), "float16")
            rows, part = T.alloc_fragment((M,), "float32"), T.alloc_fragment((M,), "float32")
            sums = [T.alloc_fragment((M, cut), "float32") for cut in cuts]
            T.copy(Q, q)
            T.clear(rows)
            for each in sums:
                T.clear(each)
            for step in T.Pipelined(STEPS, num_stages=2):
                T.copy(K[step * N, 0], k)
                if how == "whole scores":
                    T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
                else:
                    T.clear(scores)
                    for begin, cut in zip(begins, cuts):
                        T.gemm(q[:, begin : begin + cut], k[:, begin : begin + cut], scores, transpose_B=True)
                for i, j in T.Parallel(M, N):
                    scores[i, j] = T.max(scores[i, j], 0)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(M):
                    rows[i] += part[i]
                T.copy(scores, weights)
                for begin, cut, each in zip(begins, cuts, sums):
                    if how == "scaled":
                        for i, j in T.Parallel(M, cut):
                            each[i, j] *= 2
                    T.gemm(weights, k[:, begin : begin + cut], each)
            if how == "rows of sums":
                T.reduce_sum(sums[0], rows, dim=1)
            for begin, cut, each in zip(begins, cuts, sums):
                if how == "added":
                    T.atomic_add(Out[0:M, begin : begin + cut], each)
                else:
                    T.copy(each, Out[0:M, begin : begin + cut])
            T.copy(rows, Rows)

    return main


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["plain", "whole scores", "scaled", "rows of sums", "added"])
@pytest.mark.parametrize("cut", CUTS)
def test_weighted(device, cut, how):
    cuts = CUTS[cut]
    d = sum(cuts)
    generator = torch.Generator().manual_seed(d)
    q, k = (torch.randint(-1, 2, (n, d), generator=generator, device="cpu").double() for n in (M, STEPS * N))
    out = torch.full((M, d), 0.0 if how == "added" else float("nan"), device=device)
    rows = torch.full((M,), float("nan"), device=device)
    weighted(cuts, how)(q.half().to(device), k.half().to(device), out, rows)
    weights = (q @ k.T).relu()
    exact = weights @ k
    if how == "scaled":
        exact = sum(2.0 ** (STEPS - 1 - i) * weights[:, i * N : i * N + N] @ k[i * N : i * N + N] for i in range(STEPS))
    assert torch.equal(out.double().cpu(), exact)
    assert torch.equal(rows.double().cpu(), (exact[:, : cuts[0]] if how == "rows of sums" else weights).sum(1))


@pytest.mark.parametrize("how", ["plain", "scaled", "added"])
@pytest.mark.parametrize("cut", ["halves", "quarters", "uneven"])  # thirds begin within a row of a swizzle
def test_plan(cut, how):
    kernel = weighted(CUTS[cut], how)
    module = kernel.traced(usual_layouts(kernel.prim_func.params, kernel.out_idx)).module
    plan = _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan
    assert ": blocks consumers=2" in plan and "split_columns=1" in plan, plan


@tilelang.jit
def turned(d):
    """Out = (Q K^T)^T Q, where Q has more rows than K: those of Q share the columns of the second product."""

    @T.prim_func
    def main(Q: T.Tensor((STEPS * 128, d), "float16"), K: T.Tensor((64, d), "float16"), Out: T.Tensor((64, d), "float32")):
        with T.Kernel(1, threads=256):
            q, k = T.alloc_shared((128, d), "float16"), T.alloc_shared((64, d), "float16")
            scores, weights = T.alloc_fragment((128, 64), "float32"), T.alloc_shared((128, 64), "float16")
            sums = T.alloc_fragment((64, d), "float32")
            T.copy(K, k)
            T.clear(sums)
            for step in T.Pipelined(STEPS, num_stages=2):
                T.copy(Q[step * 128, 0], q)
                T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
                T.copy(scores, weights)
                T.gemm(weights, q, sums, transpose_A=True)
            T.copy(sums, Out)

    return main


@pytest.mark.gpu
@pytest.mark.parametrize("d", [32, 64, 96, 128, 160, 192])
def test_turned(device, d):
    generator = torch.Generator().manual_seed(d)
    q, k = (torch.randint(-1, 2, (n, d), generator=generator, device="cpu").double() for n in (STEPS * 128, 64))
    out = torch.full((64, d), float("nan"), device=device)
    turned(d)(q.half().to(device), k.half().to(device), out)
    assert torch.equal(out.double().cpu(), (q @ k.T).T @ q)
