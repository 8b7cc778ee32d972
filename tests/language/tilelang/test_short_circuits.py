"""Updates on the right of `and`, `or` and of chained comparisons, which only one value of what is left asks for."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def condition(kind):
    """A macro: a condition of x whose right sides count in A[i] how often they are asked; and the same of Python."""

    @T.macro
    def both(x, A, i):
        return x > 3 and T.atomic_add(A[i], 1, return_prev=True) >= 0

    @T.macro
    def either(x, A, i):
        return x > 3 or T.atomic_add(A[i], 1, return_prev=True) > 9

    @T.macro
    def neither(x, A, i):
        return not (x > 3 or T.atomic_add(A[i], 1, return_prev=True) > 9)

    @T.macro
    def mixed(x, A, i):
        return x > 1 and (x > 5 or T.atomic_add(A[i], 1, return_prev=True) >= 0) and T.atomic_add(A[i], 1, return_prev=True) > 9

    @T.macro
    def chained(x, A, i):
        return 2 < x < T.atomic_add(A[i], 6, return_prev=True) + 6 < T.atomic_add(A[i], 1, return_prev=True) + 1

    def expected(x):
        """(the condition, what is added)"""
        if kind == "both":
            return x > 3, int(x > 3)
        if kind == "either":
            return x > 3, int(x <= 3)
        if kind == "neither":
            return x <= 3, int(x <= 3)
        if kind == "mixed":
            return False, 0 if x <= 1 else 1 if x > 5 else 2
        return 2 < x < 6, 0 if x <= 2 else 6 if x >= 6 else 7

    return {"both": both, "either": either, "neither": neither, "mixed": mixed, "chained": chained}[kind], expected


@pytest.mark.parametrize("place", ["if", "parallel", "side", "name", "while"])
@pytest.mark.parametrize("kind", ["both", "either", "neither", "mixed", "chained"])
def test_right_sides_are_asked_where_the_left_ones_leave_it_open(engine, kind, place):
    holds, expected = condition(kind)

    @T.prim_func
    def main(X: T.Tensor((8,), "int32"), A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=8 if place == "parallel" else 1):
            if place == "parallel":
                for i in T.Parallel(8):
                    if holds(X[i], A, i):
                        B[i] = 1
            else:
                for i in T.serial(8):
                    if place == "if":
                        if holds(X[i], A, i):
                            B[i] = 1
                    elif place == "side":
                        B[i] = T.if_then_else(holds(X[i], A, i), 1, 0)
                    elif place == "name":
                        known = holds(X[i], A, i)
                        B[i] = T.cast(known, "int32")
                    else:
                        while B[i] < 1 and holds(X[i], A, i):
                            B[i] += 1

    x, a, b = torch.tensor([5, 0, 6, 3, 2, 1, 4, 7], dtype=torch.int32), *torch.zeros(2, 8, dtype=torch.int32)
    tilelang.compile(main)(x, a, b)
    want = [expected(n) for n in x.tolist()]
    assert b.tolist() == [int(is_true) for is_true, _ in want]
    assert a.tolist() == [added for _, added in want]


def test_a_left_side_is_read_before_the_right_one_changes_it(engine):
    @T.prim_func
    def main(A: T.Tensor((3,), "int32"), B: T.Tensor((3,), "int32")):
        with T.Kernel(1, threads=1):
            if A[0] and T.atomic_add(A[0], -1, return_prev=True) > 0:
                B[0] = 1
            if 0 < A[1] < T.atomic_add(A[1], 1, return_prev=True) + 1:
                B[1] = 1
            while A[2] > 0 and T.atomic_add(A[2], -1, return_prev=True) > 2:
                B[2] += 1
                if B[2] == 3:
                    break

    ends = {0: ([0, 0, 0], [0, 0, 0]), 1: ([0, 2, 0], [1, 1, 0]), 4: ([3, 5, 1], [1, 1, 2]), 7: ([6, 8, 4], [1, 1, 3])}
    for start, (rest, b_rest) in ends.items():
        a, b = torch.full((3,), start, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
        tilelang.compile(main)(a, b)
        assert a.tolist() == rest and b.tolist() == b_rest
