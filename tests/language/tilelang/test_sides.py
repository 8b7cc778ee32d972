"""What stands on a side of a conditional expression: macros, updates and statements are done where the side is taken."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


class Steps:
    """Macros that change memory, and what they do to lists."""

    @staticmethod
    def bump(X, i, v):
        X[i] = X[i] + v
        return X[i]

    @staticmethod
    def count_up(X, i, v):
        for _ in range(v):
            X[i] = X[i] + 1
        if X[i] > 5:
            X[3] = X[i]
        return X[i] + 1

    @staticmethod
    def search(X, i, v):
        while X[i] % 4 != v % 4:
            X[i] = X[i] + 1
        return X[i]


def branches(kind, step):
    """A program's body that asks for steps on a side."""

    def conditional(A, B):
        B[0] = step(A, 0, 4) if A[1] == 1 else step(A, 2, 8)

    def right(A, B):
        if A[1] == 1 or step(A, 2, 8) > 100:
            B[0] = 3

    def nested(A, B):
        B[0] = (step(A, 0, 4) if A[0] > 1 else step(A, 0, 3)) if A[1] > 0 and step(A, 2, 2) > 0 else step(A, 3, 1)

    def statement(A, B):
        step(A, 0, 4) if A[1] == 1 else step(A, 2, 8)
        B[0] = A[0]

    return {"conditional": conditional, "right": right, "nested": nested, "statement": statement}[kind]


@pytest.mark.parametrize("kind", ["conditional", "right", "nested", "statement"])
@pytest.mark.parametrize("step", ["bump", "count_up", "search"])
def test_macros_on_a_side_change_memory_where_it_is_taken(engine, step, kind):
    body = T.macro(branches(kind, T.macro(getattr(Steps, step))))

    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=1):
            body(A, B)

    for second in range(3):
        start = [0, second, 2, 3]
        a, b, expected, of_b = torch.tensor(start, dtype=torch.int32), torch.zeros(1, dtype=torch.int32), [*start], [0]
        tilelang.compile(main)(a, b)
        branches(kind, getattr(Steps, step))(expected, of_b)
        assert a.tolist() == expected and b.tolist() == of_b


def test_a_macro_that_only_computes_stays_an_expression():
    @T.macro
    def scaled(x, by):
        y = x * by
        return y + 1

    def program(twice):
        @T.prim_func
        def main(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
            with T.Kernel(1, threads=8):
                for i in T.Parallel(8):
                    if twice:
                        B[i] = scaled(A[i], 2) if A[i] > 3 else scaled(A[i], 3)
                    else:
                        B[i] = A[i] * 2 + 1 if A[i] > 3 else A[i] * 3 + 1

        return main.script()

    assert "tile.if" not in program(True) and program(True) == program(False)


def test_a_choice_by_another_name_is_one(engine):
    choose = T.if_then_else

    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=1):
            B[0] = choose(A[1] == 0, T.atomic_add(A[0], 1, return_prev=True), T.atomic_add(A[2], 1, return_prev=True))

    a, b = torch.tensor([0, 1, 2, 3], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    tilelang.compile(main)(a, b)
    assert a.tolist() == [0, 1, 3, 3] and b.item() == 2


def in_a_helper(A):
    return T.if_then_else(A[1] == 0, T.atomic_add(A[0], 1, return_prev=True), 3)


def given_to_a_helper(A):
    return T.logical_and(A[1] == 0, T.atomic_add(A[0], 1, return_prev=True) == 0)


SPELLED_OTHERWISE = {
    "helper": lambda A: in_a_helper(A),
    "keywords": lambda A: T.if_then_else(cond=A[1] == 0, t=T.atomic_add(A[0], 1, return_prev=True), f=3),
    "element": lambda A: T.if_then_else(A[1] == 0, t=A[T.atomic_add(A[0], 1, return_prev=True)], f=3),
    "function": given_to_a_helper,
}


@pytest.mark.parametrize("spelling", SPELLED_OTHERWISE)
def test_a_side_that_was_asked_before_is_refused(spelling):
    value = SPELLED_OTHERWISE[spelling]
    with pytest.raises(ValueError, match="a side whose update has been made already"):

        @T.prim_func
        def main(A: T.Tensor((4,), "int32"), B: T.Tensor((1,), "int32")):
            with T.Kernel(1, threads=1):
                B[0] = value(A)


def test_a_named_update_may_stand_on_a_side(engine):
    @T.macro
    def chosen(x, by):
        return T.if_then_else(t=x, f=by, cond=by > 3)

    @T.prim_func
    def main(A: T.Tensor((2,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=1):
            old = T.atomic_add(A[0], 1, return_prev=True)
            B[0] = T.if_then_else(cond=A[1] == 0, t=old, f=3)
            B[1] = T.if_then_else(A[1] == 0, T.if_then_else(True, T.atomic_add(A[0], 4, return_prev=True), 2), old + 5)
            B[2] = chosen(T.atomic_add(A[0], 1, return_prev=True), 4)
            B[3] = T.Select(A[1] == 0, T.atomic_add(A[0], 1, return_prev=True), 9)

    for second in range(2):
        a, b = torch.tensor([1, second], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
        tilelang.compile(main)(a, b)
        last = 2 if second else 6
        assert a.tolist() == [last + 2, second]
        assert b.tolist() == ([3, 6, last, 9] if second else [1, 2, last, last + 1])


def test_branches_that_give_nothing_are_statements(engine):
    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32"), C: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=4):
            T.copy(A, C) if A[1] == 1 else T.copy(B, C)
            T.if_then_else(A[1] == 2, T.fill(B, 7), T.atomic_add(A, B))
            for i in T.Parallel(4):
                T.atomic_add(C[i], 10) if i % 2 == 0 else T.atomic_add(C[0], i)
                T.if_then_else(i % 2 == 0, T.atomic_add(C[i], 100), T.atomic_add(C[0], i * 100))

    for second in (1, 2):
        a, b = torch.tensor([0, second, 2, 3], dtype=torch.int32), torch.tensor([5, 6, 8, 9], dtype=torch.int32)
        c, start, other = torch.zeros(4, dtype=torch.int32), a.clone(), b.clone()
        tilelang.compile(main)(a, b, c)
        assert torch.equal(a, start + (other if second == 1 else 0)) and torch.equal(b, other if second == 1 else other * 0 + 7)
        assert torch.equal(c, (start if second == 1 else other) + torch.tensor([514, 0, 110, 0], dtype=torch.int32))


def test_stores_of_plain_functions_on_a_side(engine):
    def put(A, i):
        A[i] = 9
        return A[i]

    def filled(A, B):
        """Statements of the language, too."""
        T.fill(B, 6)
        return A[0]

    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=1):
            v = T.alloc_var("int32", init=4)
            B[0] = put(A, 0) if A[1] == 0 else put(A, 2) + put(v, 0) - v
            if A[1] == 1 or filled(A, A) > 0:
                A[3] = A[3] + 1
            if A[1] == 1 and filled(A, B) == 0:
                A[3] = A[3] + B[0]

    a, b = torch.tensor([0, 1, 2, 3], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    tilelang.compile(main)(a, b)
    assert a.tolist() == [0, 1, 9, 10] and b.item() == 6


REFUSED = {
    "update": "gives no value",
    "right": "gives no value",
    "buffers": "the buffer `A` stands on a side",
    "texts": "the text 'a' stands on a side",
    "tuples": "a tuple of 2 .* stands on a side",
    "number": "T.atomic_add changes an element or a buffer, and this is a number",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_side_is_refused_in_words(kind):
    with pytest.raises(TypeError, match=REFUSED[kind]):

        @T.prim_func
        def main(A: T.Tensor((4,), "int32"), B: T.Tensor((1,), "int32")):
            with T.Kernel(1, threads=1):
                if kind == "update":
                    B[0] = T.if_then_else(A[0] == 0, T.atomic_add(A[0], 1), 2)
                elif kind == "right":
                    B[0] = A[0] == 0 and T.atomic_add(A[0], 1)
                elif kind == "buffers":
                    B[0] = T.if_then_else(A[0] == 0, A, B)
                elif kind == "texts":
                    B[0] = "a" if A[0] == 0 else "b"
                elif kind == "tuples":
                    B[0] = (1, 2) if A[0] == 0 else (3, 4)
                else:
                    T.atomic_add(3, 1)


def test_buffers_that_a_macro_makes_on_a_side_stay_there():
    @T.macro
    def made(A):
        own = T.alloc_local((4,), "int32")
        own[0] = A[0]
        return own

    with pytest.raises(TypeError, match="lasts on that side"):

        @T.prim_func
        def main(A: T.Tensor((4,), "int32"), B: T.Tensor((1,), "int32")):
            with T.Kernel(1, threads=1):
                B[0] = (made(A) if A[1] == 0 else made(A))[0]
