"""Reducers, votes and atomic updates of a program's own buffers, against NumPy."""

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

OPS = {"sum": np.add, "max": np.maximum, "min": np.minimum}
OPS |= {"bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor}
INTEGERS = ("int32", "uint32", "int64", "int8", "uint8")


def reducer(op, dtype, seed=None, rows=24, columns=40):
    @T.prim_func
    def main(A: T.Tensor((rows, 2 * columns), dtype), B: T.Tensor((rows,), dtype)):
        with T.Kernel(1, threads=64):
            acc = T.alloc_reducer((rows,), dtype, op=op)
            T.reducer_init(acc) if seed is None else T.reducer_init(acc, seed)
            tile = T.alloc_fragment((rows, columns), dtype)
            for k in T.serial(2):
                T.copy(A[0, k * columns], tile)
                for i, j in T.Parallel(rows, columns):
                    T.reducer_update(acc[i], tile[i, j])
            out = T.alloc_fragment((rows,), dtype)
            T.finalize_reducer(acc, out)
            T.copy(out, B)

    return main


@pytest.mark.parametrize("op, dtype", [(op, dtype) for op in OPS for dtype in INTEGERS])
def test_reducers_of_integers(op, dtype, engine):
    kind = np.dtype(dtype)
    info = np.iinfo(kind)
    values = np.random.default_rng(1).integers(info.min, info.max, (24, 80), dtype=kind, endpoint=True)
    out = torch.zeros(24, dtype=getattr(torch, dtype))
    tilelang.compile(reducer(op, dtype))(torch.tensor(values), out)
    with np.errstate(over="ignore"):
        assert (out.cpu().numpy() == OPS[op].reduce(values, axis=1, dtype=kind)).all()


@pytest.mark.parametrize("op", ("sum", "max", "min"))
@pytest.mark.parametrize("dtype", ("float16", "float32", "float64"))
def test_reducers_of_floats(op, dtype, engine):
    values = torch.randint(-8, 9, (24, 80)).to(getattr(torch, dtype))  # sums are exact in any order
    out = torch.zeros(24, dtype=values.dtype)
    tilelang.compile(reducer(op, dtype, 3.0))(values, out)
    expected = OPS[op](OPS[op].reduce(values.cpu().double().numpy(), axis=1), 3.0)
    assert (out.cpu().double().numpy() == expected).all()


def test_a_branch_leaves_iterations_out(engine):
    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((1,), "float32"), C: T.Tensor((8,), "int32"), n: T.int32):
        with T.Kernel(1):
            acc = T.alloc_reducer((1,), "float32", op="max", replication="all")
            count = T.alloc_shared((8,), "int32")
            T.clear(count)
            T.reducer_init(acc)
            for i, j in T.Parallel(8, 16):
                if j < n:
                    T.reducer_update(acc[0], A[i, j])
                    T.atomic_add(count[i], 1)
            T.finalize_reducer(acc)
            B[0] = acc[0]
            T.copy(count, C)

    values = -torch.rand(8, 16) - 1
    kernel = tilelang.compile(main)
    for n in (5, 0):
        out, count = torch.zeros(1), torch.zeros(8, dtype=torch.int32)
        kernel(values, out, count, n)
        assert out.item() == (values[:, :n].max().item() if n else float("-inf")) and (count == n).all()


def test_updates_at_run_time_places(engine):
    """A histogram in shared memory: what was there tells equal numbers apart."""

    @T.prim_func
    def main(A: T.Tensor((512,), "int32"), H: T.Tensor((16,), "int32"), Rank: T.Tensor((512,), "int32")):
        with T.Kernel(1, threads=128):
            counts = T.alloc_shared((16,), "int32")
            T.clear(counts)
            for i in T.Parallel(512):
                Rank[i] = T.atomic_add(counts[A[i]], 1, return_prev=True)
            T.copy(counts, H)

    numbers = torch.randint(0, 16, (512,), dtype=torch.int32)
    counts, ranks = torch.zeros(16, dtype=torch.int32), torch.zeros(512, dtype=torch.int32)
    tilelang.compile(main)(numbers, counts, ranks)
    for value in range(16):
        mine = ranks[numbers == value].sort().values
        assert counts[value] == len(mine) and (mine == torch.arange(len(mine))).all()


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_extremes_of_16_bits(dtype, engine):
    @T.prim_func
    def main(A: T.Tensor((256,), dtype), Most: T.Tensor((1,), dtype), Least: T.Tensor((1,), dtype)):
        with T.Kernel(4) as bx:
            for i in T.Parallel(64):
                T.atomic_max(Most[0], A[bx * 64 + i])
                T.atomic_min(Least[0], A[bx * 64 + i])

    values = torch.randn(256).to(getattr(torch, dtype))
    most, least = torch.zeros(1, dtype=values.dtype), torch.zeros(1, dtype=values.dtype)
    tilelang.compile(main)(values, most, least)
    assert most.item() == values.max().item() and least.item() == values.min().item()


@pytest.mark.parametrize("dtype", ("float16", "bfloat16", "float32"))
def test_vector_atomics(dtype, engine):
    @T.prim_func
    def main(D: T.Tensor((8,), dtype), V: T.Tensor((8,), dtype), P: T.Tensor((8,), dtype)):
        with T.Kernel(1, threads=1):
            P[0:4] = T.atomic_addx4(D[0:4], V[0:4], return_prev=True)
            T.atomic_addx2(D[4], V[4])
            T.atomic_store(P[6], T.atomic_load(D[6], memory_order="acquire") + V[6], memory_order="release")

    d, v, p = (torch.randint(-8, 9, (8,)).to(getattr(torch, dtype)) for _ in range(3))
    before, kept = d.clone(), p.clone()
    tilelang.compile(main)(d, v, p)
    assert (d[:6] == before[:6] + v[:6]).all() and (d[6:] == before[6:]).all()
    assert (p[:4] == before[:4]).all() and p[6] == before[6] + v[6] and (p[4:6] == kept[4:6]).all()


@pytest.mark.parametrize("name, expected", [("any_of", [1, 1, 0]), ("all_of", [1, 0, 0])])
def test_votes(name, expected, engine):
    vote = getattr(T, name)

    @T.prim_func
    def main(M: T.Tensor((3, 4), "bool"), B: T.Tensor((3,), "int32"), C: T.Tensor((3,), "int32")):
        with T.Kernel(3) as bx:
            mask = T.alloc_shared((4,), "bool")
            T.copy(M[bx, :], mask)
            if vote(M[bx, :]):
                B[bx] = 1
            C[bx] = T.if_then_else(vote(mask), 1, 0)

    masks = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]]).bool()
    b, c = torch.zeros(3, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    tilelang.compile(main)(masks, b, c)
    assert b.tolist() == c.tolist() == expected


def test_reducers_opened_by_fill(engine):
    """An online softmax with the older spelling: T.fill, `acc[i] += x`, T.finalize_reducer in place."""

    @T.prim_func
    def main(A: T.Tensor((512,), "float32"), B: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_fragment((128,), "float32")
            running_max = T.alloc_fragment((1,), "float32")
            running_sum = T.alloc_fragment((1,), "float32")
            running_max[0] = -T.infinity("float32")
            running_sum[0] = 0
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[k * 128], tile)
                most = T.alloc_reducer((1,), "float32", op="max", replication="all")
                T.fill(most, running_max[0])
                for i in T.Parallel(128):
                    most[0] = T.max(most[0], tile[i])
                T.finalize_reducer(most)
                total = T.alloc_reducer((1,), "float32", replication="all")
                T.clear(total)
                for i in T.Parallel(128):
                    total[0] += T.exp(tile[i] - most[0])
                T.finalize_reducer(total)
                running_sum[0] = T.exp(running_max[0] - most[0]) * running_sum[0] + total[0]
                running_max[0] = most[0]
            if T.get_thread_binding() == 0:
                B[0] = T.log(running_sum[0]) + running_max[0]

    values = torch.randn(512)
    out = tilelang.compile(main, out_idx=-1)(values)
    torch.testing.assert_close(out, values.double().logsumexp(0, keepdim=True).float(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("batch, words", [(0, "batch must be >= 1"), (128, "exceeds total output"), (3, "must evenly divide")])
def test_batches(batch, words):
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            acc = T.alloc_reducer((64,), "float32")
            T.reducer_init(acc)
            T.finalize_reducer(acc, A, batch=batch)

    with pytest.raises(ValueError, match=words):
        T.prim_func(main)
