"""Numbers of NumPy as compile-time arguments, and inputs that nobody can make up without PyTorch."""

import sys

import numpy as np
import pytest

from tilery import tilelang
from tilery.errors import Error
from tilery.tilelang import language as T


@tilelang.jit
def scaled(X, block=32, scale=1.0):
    N = T.const("N")
    X: T.Tensor((N,), "float32")
    Y = T.empty((N,), "float32")
    with T.Kernel(T.ceildiv(N, block)) as b:
        part = T.alloc_shared((block,), "float32")
        T.copy(X[b * block], part)
        for i in T.Parallel(block):
            part[i] = part[i] * scale
        T.copy(part, Y[b * block])
    return Y


@pytest.mark.parametrize("block, scale", [(np.int64(32), np.float32(2)), (np.uint8(16), np.float64(2)), (8, np.int32(2))])
def test_numbers_of_numpy_are_numbers(block, scale):
    x = np.arange(70, dtype=np.float32)
    np.testing.assert_array_equal(scaled(x, block=block, scale=scale), 2 * x)


def test_inputs_without_torch(monkeypatch):
    @tilelang.jit(out_idx=[-1])
    def copied(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(1):
                for i in T.Parallel(n):
                    B[i] = A[i]

        return main

    profiler = copied(10).get_profiler()
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match="made up by PyTorch, which is not installed") as caught:
            profiler.make_inputs()
    assert isinstance(caught.value, Error) and "input_tensors=[...]" in caught.value.hint
