"""Hints for targets reach the IR and change nothing that is computed."""

import re

import numpy as np
import pytest

from tilery import tilelang
from tilery.tilelang import language as T


def compiled(loop):
    """B = the column sums of A, by a loop over its rows."""

    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((16,), "float32")):
        with T.Kernel(1) as _:
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
        (lambda: T.Pipelined(8, num_stages=2, order=[0], stage=[1]), ["tile.num_stages = 2 : i64"]),
        (lambda: T.unroll(8), []),
        (lambda: T.unroll(8, unroll_factor=4), ["tile.unroll = 4 : i64"]),
        (lambda: T.vectorized(8), ["tile.vectorize = true"]),
    ],
)
def test_of_loops(loop, attributes):
    assert re.findall(r"^ +} \{(tile\..*)\}$", compiled(loop), re.M) == attributes
