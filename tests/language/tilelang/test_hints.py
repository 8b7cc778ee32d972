"""Hints for targets reach the IR and change nothing that is computed."""

import re

import numpy as np
import pytest

from tilery import tilelang
from tilery.tilelang import language as T


def compiled(loop, annotate=lambda: None, **options):
    """B = the column sums of A, by a loop over its rows."""

    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((16,), "float32")):
        with T.Kernel(1, **options) as _:
            annotate()
            total = T.alloc_fragment((16,), "float32")
            T.clear(total)
            for k in loop():
                for i in T.Parallel(16):
                    total[i] += A[k, i]
            T.copy(total, B)

    kernel = tilelang.compile(main)
    a, b = np.random.rand(8, 16).astype(np.float32), np.full(16, np.nan, np.float32)
    kernel(a, b)
    np.testing.assert_allclose(b, a.sum(0), rtol=1e-5)
    return kernel.get_kernel_source()


@pytest.mark.parametrize(
    "loop, attributes",
    [
        (lambda: T.serial(8), []),
        (lambda: T.Pipelined(8), []),
        (lambda: T.Pipelined(8, num_stages=3), ["tile.num_stages = 3 : i64"]),
        (
            lambda: T.Pipelined(8, num_stages=2, order=[0], stage=[1]),
            ["tile.num_stages = 2 : i64, tile.pipeline_order = array<i64: 0>, tile.pipeline_stage = array<i64: 1>"],
        ),
        (
            lambda: T.Pipelined(8, order=[-1], stage=[-1], group=[[0]]),
            ["tile.pipeline_order = array<i64: -1>, tile.pipeline_stage = array<i64: -1>"],
        ),
        (lambda: T.unroll(8), []),
        (lambda: T.unroll(8, unroll_factor=4), ["tile.unroll = 4 : i64"]),
        (lambda: T.vectorized(8), ["tile.vectorize = true"]),
    ],
)
def test_of_loops(loop, attributes):
    assert re.findall(r"^ +} \{(tile\..*)\}$", compiled(loop), re.M) == attributes


def test_of_kernels():
    def annotate():
        T.use_swizzle(10, order="column")
        T.use_swizzle(99, enable=False)
        T.annotate_min_blocks_per_sm(2)

    text = compiled(lambda: T.serial(8), annotate, threads=[64, 2])
    assert (
        'attributes {tile.min_blocks_per_sm = 2 : i64, tile.swizzle_order = "column", tile.swizzle_panel = 10 : i64, '
        "tile.threads = array<i64: 64, 2>}"
    ) in text
    assert "attributes {tile.threads = array<i64: 128>}" in compiled(lambda: T.serial(8))
