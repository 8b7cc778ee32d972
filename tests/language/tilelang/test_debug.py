"""kernel(..., debug=True): the reference interpreter reports the user's line."""

import warnings

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
def copied(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        b, c = T.alloc_fragment((8,), "float32"), T.alloc_fragment((8,), "float32")
        T.copy(a, b)  # here it is read first
        for i in T.Parallel(8):
            c[i] = b[i] * 2
        T.copy(c, A)


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


@T.prim_func
def next_element(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(7):
            A[i] = A[i] + A[i + 1] + 1


@T.prim_func
def mirrored(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(8):
            A[i] = i
            A[7 - i] = A[i] + 3


@T.prim_func
def one_for_all(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        for i, j in T.Parallel(2, 4):
            A[0] = i * 4 + j


@T.prim_func
def element_before(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a = T.alloc_shared((8,), "float32")
        T.fill(a, 1)
        for i in T.Parallel(8):
            if i > 0:
                a[i] = a[i] + a[i - 1]
        T.copy(a, A)


@T.prim_func
def column_of_pairs(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((2, 4), "float32")
        T.fill(a, 1)
        for i, j in T.Parallel(2, 4):
            a[i, j] = a[1 - i, j] + j
        for i, j in T.Parallel(2, 4):
            A[i * 4 + j] = a[i, j]


@T.prim_func
def without_a_race(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        a, count = T.alloc_shared((8,), "float32"), T.alloc_shared((1,), "int32")
        own, step = T.alloc_local((2,), "float32"), T.alloc_var("float32")
        T.fill(a, 1)
        T.clear(count)
        for i in T.Parallel(8):
            own[0] = A[i]
            own[1] = own[0] + 1
            step = own[1] * 2
            a[i] = a[i] + step  # its own element
            T.atomic_add(count[0], 1)
            A[0] = A[0]  # leaves it as it is
        for i in T.Parallel(8):
            a[i // 8] = 5  # all write one value
        for i in T.Parallel(8):
            A[i] = a[7 - i] + count[0]


WRONG = {
    next_element: (4, IndexError, "iteration 1 of a parallel loop writes element 1 of 'A', which iteration 0 reads"),
    mirrored: (4, IndexError, "of a parallel loop writes element 4 of 'A', which iteration"),
    one_for_all: (4, IndexError, "iteration (0, 1) of a parallel loop writes element 0 of 'A', which iteration (0, 0) also"),
    element_before: (7, IndexError, "iteration 2 of a parallel loop reads element [1] of a buffer, which iteration 1 writes"),
    column_of_pairs: (6, IndexError, "iteration (1, 1) of a parallel loop reads element [0, 1] of a buffer, which iteration (0,"),
    uninitialised: (4, RuntimeError, "uses a value that nothing has written before it is read here"),
    copied: (5, RuntimeError, "uses a value that nothing has written before it is read here"),
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


def test_iterations_that_do_not_meet():
    a = torch.zeros(8)
    tilelang.compile(without_a_race)(a, debug=True)
    assert a.tolist() == [3 + 8] * 7 + [5 + 8]


def test_what_tensors_bound_is_no_error():
    a = torch.arange(8.0)
    tilelang.compile(ragged)(a, debug=True)
    assert a.tolist() == [0, 1, 4, 5, 6, 7, 0, 0]


@T.prim_func
def half_of_it(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32"), n: T.int32):
    with T.Kernel(1):
        for i in T.Parallel(4):
            if i < n:
                B[i] = A[i]


@T.prim_func
def reading_its_output(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(8):
            B[i] += A[i]


@T.prim_func
def in_place(A: T.Tensor((16,), "float32"), B: T.Tensor((16,), "float32")):
    with T.Kernel(4) as bx:
        a = T.alloc_fragment((4,), "float32")
        T.copy(A[bx * 4], a)
        for i in T.Parallel(4):
            a[i] = a[i] * 2
        T.copy(a, B[bx * 4])


@T.prim_func
def counted(A: T.Tensor((4,), "int32"), Count: T.Tensor((1,), "int32"), Out: T.Tensor((1,), "int32")):
    with T.Kernel(4, threads=1) as bx:
        A[bx] = bx + 1
        if T.atomic_add(Count[0], 1, memory_order="acq_rel", return_prev=True) == 3:
            Out[0] = A[0] + A[1] + A[2] + A[3]


def test_outputs_that_are_left_out():
    kernel = tilelang.compile(half_of_it, out_idx=[1])
    with pytest.warns(RuntimeWarning, match=r"has written 4 of the 8 elements of output `B` \(not element 4\)") as found:
        assert kernel(torch.ones(8), 4, debug=True)[:4].sum() == 4
    assert found[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="`half_of_it` has written no element of output `B`: what is there now is"):
        kernel(torch.ones(8), 0, debug=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = tilelang.compile(in_place, out_idx=[1])
        assert (kernel(torch.ones(16), debug=True) == 2).all()


def test_an_output_holds_nothing_before_it_is_written():
    kernel = tilelang.compile(reading_its_output, out_idx=[1])
    with pytest.raises(Error, match="uses element 0 of 'B', which nothing has written before it is read here") as caught:
        kernel(torch.ones(8), debug=True)
    assert caught.value.chain[0][1] == reading_its_output.function.__code__.co_firstlineno + 4


def test_an_argument_that_a_launch_leaves_as_it_was():
    kernel = tilelang.compile(half_of_it)
    kernel(torch.ones(8), torch.ones(8), 0, debug=True)  # torch's memory is watched from here on
    b = torch.empty(8)
    with pytest.warns(RuntimeWarning, match="has written no element of argument `B`"):
        kernel(torch.ones(8), b, 0, debug=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(torch.ones(8), b, 1, debug=True)


def test_arguments_that_share_memory():
    a = torch.ones(17)
    kernel = tilelang.compile(in_place)
    kernel(a[:16], a[:16], debug=True)
    assert a.tolist() == [2] * 16 + [1]
    with pytest.raises(Error, match=r"reads element 4 of 'A' \(in the same memory: element 3 of 'B'\), which program 0 writes"):
        kernel(a[:16], a[1:], debug=True)


def test_the_last_block_reads_what_all_have_written():
    a, count, out = torch.zeros(4, dtype=torch.int32), torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    tilelang.compile(counted)(a, count, out, debug=True)
    assert out[0] == 10


@tilelang.jit
def eager_race(A):
    N = T.const("N")
    A: T.Tensor((N,), "float32")
    with T.Kernel(4) as bx:
        for i in T.Parallel(N):
            A[i] = bx


@tilelang.jit
def own_debug(A, debug=False):
    N = T.const("N")
    A: T.Tensor((N,), "float32")
    with T.Kernel(1):
        for i in T.Parallel(N):
            A[i] = 2 if debug else 1


def test_eager_functions_take_debug_as_kernels_do():
    with pytest.raises(Error, match="writes element 0 of 'A', which program 0 also writes"):
        eager_race(torch.zeros(8), debug=True)
    eager_race(torch.zeros(8), debug=False)
    a = torch.zeros(8)
    own_debug(a, debug=True)  # a parameter of that name is the function's
    assert a.tolist() == [2] * 8


def test_results_without_a_name_are_told_by_their_place():
    @tilelang.jit
    def nothing_of_it(A):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        C = T.empty((N,), "float32")
        with T.Kernel(N) as i:
            C[i] = A[i]
        return B, C

    with pytest.warns(RuntimeWarning, match="`nothing_of_it` has written no element of result 1 of 2: what is there"):
        nothing_of_it(torch.ones(8), debug=True)
