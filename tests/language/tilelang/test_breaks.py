"""`break` and `continue` in loops that stand in other loops and branches, against Python's own."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def two_loops_deeper(A, ranges):
    for i in ranges(4):
        if A[1] < i:
            break
        A[0] = A[0] + 1
        for j in ranges(2):
            for k in ranges(3):
                A[2] = A[2] + 1
                break


def under_a_branch(A, ranges):
    for i in ranges(3):
        if A[1] > i:
            for j in ranges(3):
                for k in ranges(4):
                    if k > j:
                        break
                    A[0] = A[0] + 1
        else:
            A[2] = A[2] + 1


def in_a_while(A, ranges):
    for i in ranges(4):
        if A[1] > i:
            while A[0] < 5 * i:
                for k in ranges(3):
                    A[0] = A[0] + 1
                    if A[0] == 7:
                        break
                A[2] = A[2] + 1
        if A[0] > 9:
            break


def continued(A, ranges):
    for i in ranges(4):
        if A[1] == i:
            continue
        for j in ranges(2):
            for k in ranges(4):
                if k == i:
                    continue
                A[0] = A[0] + k
            A[2] = A[2] + 1
        A[3] = A[3] + 1


@pytest.mark.parametrize("around", ["nothing", "a loop", "a branch"])
@pytest.mark.parametrize("body", [two_loops_deeper, under_a_branch, in_a_while, continued])
def test_jumps_end_their_own_loop(engine, body, around):
    steps = T.macro(body)

    @T.prim_func
    def main(A: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=1):
            if around == "a loop":
                for n in T.serial(2):
                    steps(A, T.serial)
            elif around == "a branch":
                if A[1] > 0:
                    steps(A, T.serial)
            else:
                steps(A, T.serial)

    program = tilelang.compile(main)
    for bound in range(5):
        a, expected = torch.tensor([0, bound, 0, 0], dtype=torch.int32), [0, bound, 0, 0]
        for _ in range({"nothing": 1, "a loop": 2, "a branch": int(bound > 0)}[around]):
            body(expected, range)
        program(a)
        assert a.tolist() == expected
