"""Launches by the reference interpreter look like those of machine code."""

import pytest
import torch

from tilery import tilelang
from tilery.errors import Error
from tilery.tilelang import language as T


@tilelang.jit
def outputs():
    M, N = T.dynamic("M, N")

    @T.prim_func
    def scaled(A: T.StridedTensor((M, N), (T.dynamic("S"), 2), "float16"), factor: T.int32):
        total, twice = T.empty((N,), "int32"), T.empty((M, N), "bfloat16")
        rest = T.alloc_global((M, N), "float32")
        with T.Kernel(M) as row:
            for j in T.serial(N):
                rest[row, j] = A[row, j] * factor
        with T.Kernel(1):
            for i, j in T.Parallel(M, N):
                twice[i, j] = rest[i, j] * 2
            for j in T.Parallel(N):
                total[j] = j * factor
        return total, twice

    return scaled


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("shape", [(3, 5), (1, 1)])
def test_tensors_that_a_call_makes(debug, shape):
    a = torch.randn(shape[0], shape[1] * 2).half()[:, ::2]
    total, twice = outputs()(a, 4, debug=debug)
    assert total.dtype is torch.int32 and total.tolist() == [4 * j for j in range(shape[1])]
    torch.testing.assert_close(twice, (a.float() * 8).bfloat16(), rtol=0, atol=0)


def test_both_refuse_a_call_by_the_same_words():
    @T.prim_func
    def copy(A: T.Tensor((4, 4), "float32"), B: T.Tensor((4, 4), "float32")):
        with T.Kernel(1):
            T.copy(A, B)

    kernel, messages = tilelang.compile(copy), []
    for debug in (False, True):
        with pytest.raises(ValueError) as caught:
            kernel(torch.zeros(4, 4), torch.zeros(5, 4), debug=debug)
        assert isinstance(caught.value, Error)
        messages.append(caught.value.message)
    assert messages[0] == messages[1] == "Argument copy.B.shape[0] has an unsatisfied constraint: 5 == 4 (given, declared)"
