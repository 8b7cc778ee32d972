"""Products whose columns are summed in groups, of rows that begin where a number in memory says: indexers of sparse attention."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts

N = 64  # rows of K in a step


@tilelang.jit
def indexer(queries, heads, d, dtype, how, begin_type="int32"):
    """Out[q, n] = sum over heads of W[q, h] * relu(K[n] . Q[q, h]) for rows n of K from Begins[0] to Ends[0]."""
    rows, keys = T.dynamic("rows, keys")

    @T.prim_func
    def main(
        Q: T.Tensor((queries * heads, d), dtype),
        K: T.Tensor((keys, d), dtype),
        W: T.Tensor((queries, heads), "float32"),
        Begins: T.Tensor((rows,), begin_type),
        Ends: T.Tensor((rows,), begin_type),
        Out: T.Tensor((queries, keys), "float32"),
    ):
        with T.Kernel(1, threads=128):
            q, k = T.alloc_shared((queries * heads, d), dtype), T.alloc_shared((N, d), dtype)
            s = T.alloc_fragment((N, queries * heads), "float32")
            grouped = T.reshape(s, (N, queries, heads))
            sums = T.alloc_fragment((N, heads if how == "over queries" else queries), "float32")
            weights = T.alloc_fragment((queries, heads), "float32")
            begin, end = T.alloc_var(begin_type), T.alloc_var(begin_type)
            if how == "one number":
                begin, end = Begins[0], Ends[0]
            else:
                begin, end = 2147483647, -2147483648
                for i in T.serial(rows):
                    begin = T.min(begin, Begins[i])
                for i in T.serial(rows):
                    end = T.max(end, Ends[i])
            T.copy(Q, q)
            T.copy(W, weights)
            for step in T.Pipelined(T.ceildiv(end - begin, N), num_stages=2):
                T.copy(K[begin + step * N, 0], k)
                T.gemm(k, q, s, transpose_B=True, clear_accum=True)
                if how == "largest":
                    T.reduce_max(grouped, sums, dim=2, clear=True)
                elif how == "over queries":
                    T.reduce_sum(grouped, sums, dim=1, clear=True)
                else:
                    for n, i, h in T.Parallel(N, queries, heads):
                        grouped[n, i, h] = T.max(grouped[n, i, h], 0) * weights[i, h]
                    T.reduce_sum(grouped, sums, dim=2, clear=True)
                for i, n in T.Parallel(queries, N):
                    Out[i, begin + step * N + n] = sums[n, i]

    return main


def launch(device, queries, heads, d, dtype, how, begins, ends, keys=200, begin_type="int32"):
    generator = torch.Generator().manual_seed(queries * heads + d)
    q, k = (torch.randint(-2, 3, (n, d), generator=generator, device="cpu") for n in (queries * heads, keys))
    w = torch.randint(-2, 3, (queries, heads), generator=generator, device="cpu").float()
    kind, number = getattr(torch, dtype), getattr(torch, begin_type)
    begins, ends = (torch.tensor(x, dtype=number, device=device) for x in (begins, ends))
    out = torch.full((queries, keys), float("nan"), device=device)
    kernel = indexer(queries, heads, d, dtype, how, begin_type)
    kernel(q.float().to(kind).to(device), k.float().to(kind).to(device), w.to(device), begins, ends, out)
    scores = (k.double() @ q.double().T).view(keys, queries, heads)
    if how == "largest":
        exact = scores.amax(2).T
    elif how == "over queries":
        exact = scores.sum(1).T[:queries]
    else:
        exact = (scores.relu() * w.double()).sum(2).T
    begin, end = (int(begins[0]), int(ends[0])) if how == "one number" else (int(begins.min()), int(ends.max()))
    last = begin + -(-max(end - begin, 0) // N) * N
    exact[:, : max(begin, 0)] = exact[:, max(last, 0) :] = float("nan")
    assert torch.equal(out.double().cpu().nan_to_num(12345), exact.nan_to_num(12345))


SHAPES = [(4, 32), (2, 64), (1, 64), (8, 16), (3, 32), (16, 4), (12, 8), (6, 2)]


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["weighted", "one number", "largest"])
@pytest.mark.parametrize("queries, heads", SHAPES)
def test_groups(device, queries, heads, how):
    launch(device, queries, heads, 64, "float16", how, [17, 3, 90], [60, 150, 131])


@pytest.mark.gpu
@pytest.mark.parametrize("queries, heads", [(4, 32), (8, 16), (16, 16), (8, 8), (3, 12), (5, 24)])
def test_across_groups(device, queries, heads):
    launch(device, min(queries, heads), heads, 64, "float16", "over queries", [17, 3], [60, 150])


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "bfloat16"])
@pytest.mark.parametrize("d", [64, 128])
def test_types(device, dtype, d):
    launch(device, 4, 32, d, dtype, "weighted", [5], [190])


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["weighted", "one number"])
@pytest.mark.parametrize(
    "begin, end", [(0, 200), (-70, 100), (-64, 0), (150, 260), (199, 200), (200, 300), (90, 90), (100, 20), (7, 8)]
)
def test_begins(device, begin, end, how):
    launch(device, 2, 32, 64, "float16", how, [begin], [end])


@pytest.mark.gpu
@pytest.mark.parametrize("begin", [2**31 - 70, -(2**31) + 5, 2**32 + 3, -(2**32) - 3, 2**33 - 1])
def test_far_begins(device, begin):
    """Numbers that coordinates have no bits for: all rows lie outside."""
    launch(device, 2, 32, 64, "float16", "one number", [begin], [begin + 100], begin_type="int64")


@pytest.mark.parametrize("queries, heads, how", [(4, 32, "weighted"), (3, 32, "largest"), (8, 16, "one number")])
def test_plan(queries, heads, how):
    kernel = indexer(queries, heads, 64, "float16", how)
    module = kernel.traced(usual_layouts(kernel.prim_func.params, kernel.out_idx)).module
    plan = _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan
    assert ": blocks consumers=" in plan, plan
