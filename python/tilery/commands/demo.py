"""A matmul in each language, on NumPy arrays: checked, and timed beside NumPy's."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

try:
    import numpy as np
except ImportError:
    sys.exit("tilery demo: needs NumPy (pip install numpy)")

from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Symbol, Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl

N = 1024
CLOSE = 1e-5  # the largest error, of the largest result: what sums of 1,024 products in f32 may be off


@tileon.jit
def tileon_matmul(a_ptr, b_ptr, c_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # type: ignore[no-untyped-def]
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, n, K):
        steps = k + tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * n + steps[None, :])
        b = tl.load(b_ptr + steps[:, None] * n + columns[None, :])
        sums += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], sums)


M_TILE, N_TILE, K_TILE = (Symbol(f"{name}_TILE", meta=True) for name in "MNK")
c_arranged = Tensor(2).tile((M_TILE, N_TILE))
a_arranged = Tensor(2).tile((M_TILE, K_TILE)).tile((1, -1)).expand((-1, c_arranged.shape[1]))
b_arranged = Tensor(2).tile((K_TILE, N_TILE)).tile((-1, 1)).expand((c_arranged.shape[0], -1))
a_arranged.dtype = a_arranged.dtype.squeeze(0)
b_arranged.dtype = b_arranged.dtype.squeeze(1)


@ninetoothed.jit
def ninetoothed_matmul(a: a_arranged, b: b_arranged, c: c_arranged):  # type: ignore
    sums = ninetoothed.language.zeros(c.shape, dtype=ninetoothed.language.float32)
    for k in range(a.shape[0]):
        sums += ninetoothed.language.dot(a[k], b[k])
    c = sums  # noqa: F841 # assigning a parameter stores it


@tilelang.jit
def tilelang_matmul(n, m_tile, n_tile, k_tile):  # type: ignore[no-untyped-def]
    @T.prim_func
    def matmul(a: T.Tensor((n, n), "float32"), b: T.Tensor((n, n), "float32"), c: T.Tensor((n, n), "float32")):  # type: ignore
        with T.Kernel(n // n_tile, n // m_tile, threads=128) as (x, y):
            a_tile = T.alloc_shared((m_tile, k_tile), "float32")
            b_tile = T.alloc_shared((k_tile, n_tile), "float32")
            sums = T.alloc_fragment((m_tile, n_tile), "float32")
            T.clear(sums)
            for k in T.Pipelined(n // k_tile, num_stages=2):
                T.copy(a[y * m_tile, k * k_tile], a_tile)
                T.copy(b[k * k_tile, x * n_tile], b_tile)
                T.gemm(a_tile, b_tile, sums)
            T.copy(sums, c[y * m_tile, x * n_tile])

    return matmul


def best_time(call: Callable[[], object], seconds: float = 0.5) -> float:
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(arguments: argparse.Namespace) -> int:
    """Returns the exit status: 1 if a result is wrong."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((N, N), dtype=np.float32) for _ in range(2))
    c = np.empty_like(a)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    tiled = tilelang_matmul(N, 128, 128, 32)
    calls: dict[str, Callable[[], object]] = {
        "Tileon/Triton": lambda: tileon_matmul[(N // 128, N // 128)](a, b, c, N, M=128, N=128, K=32),
        "NineToothed": lambda: ninetoothed_matmul(a, b, c),
        "TileLang": lambda: tiled(a, b, c),
        "NumPy": lambda: np.matmul(a, b, out=c),
    }
    print(f"{N} x {N} matmul in f32 on the CPU\n{'':16}{'first call':>12}{'GFLOP/s':>10}{'largest error':>16}")
    right = True
    for name, call in calls.items():
        c.fill(np.nan)
        start = time.perf_counter()
        call()
        first = time.perf_counter() - start
        error = float(np.abs(c - exact).max() / np.abs(exact).max())
        right &= error < CLOSE
        print(f"{name:16}{first * 1e3:9.1f} ms{2 * N**3 / best_time(call) / 1e9:10.0f}{error:16.1e}", flush=True)
    print("all results agree with float64" if right else "wrong results")
    return 0 if right else 1
