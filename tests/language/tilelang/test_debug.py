"""kernel(..., debug=True): the reference interpreter reports the user's line."""

import pytest
import torch

from tilery import tilelang
from tilery.errors import Error
from tilery.tilelang import language as T


@T.prim_func
def uninitialised(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        T.copy(a, A)


@T.prim_func
def race(A: T.Tensor((8,), "float32")):
    with T.Kernel(4) as bx:
        for i in T.Parallel(8):
            A[i] = bx


@T.prim_func
def out_of_bounds(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        T.fill(a, 1)
        for i in T.Parallel(8):
            A[i] = a[i + T.cast(a[0], "int32") + 3]


@T.prim_func
def ragged(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        T.copy(A[4], a)
        T.copy(a, A[2])


WRONG = {
    uninitialised: (4, RuntimeError, "uses a value that nothing has written before it is read here"),
    race: (4, IndexError, "writes element 0 of 'A', which program 0 also writes"),
    out_of_bounds: (6, IndexError, "reads index 8 of dimension 0 of a buffer, which has 8 elements there"),
}


@pytest.mark.parametrize("program", WRONG, ids=lambda program: program.__name__)
def test_reports_the_line(program):
    line, builtin, words = WRONG[program]
    with pytest.raises(builtin) as caught:
        tilelang.compile(program)(torch.zeros(8), debug=True)
    assert isinstance(caught.value, Error) and words in str(caught.value)
    assert caught.value.chain[0][:2] == (__file__, program.function.__code__.co_firstlineno + line)


def test_what_tensors_bound_is_no_error():
    a = torch.arange(8.0)
    tilelang.compile(ragged)(a, debug=True)
    assert a.tolist() == [0, 1, 4, 5, 6, 7, 0, 0]
