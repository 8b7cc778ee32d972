"""Traced control flow against Python itself: each function is run by Python on numbers, and traced and interpreted on the same
ones."""

import itertools

import pytest
from frontend.toy import execute, trace

SMALL = [-3, -1, 0, 1, 2, 5]


def both(function, arity=2, values=SMALL, host=()):
    for numbers in itertools.product(values, repeat=arity):
        expected = function(*numbers, *host)
        assert execute(function, *numbers, host=host) == expected, (numbers, expected)


def test_merge_of_branches():
    def f(a, b):
        c = 1
        if a < b:
            c = a * 2
            d = b
        elif a == b:
            d = 7
        else:
            d = a - b
        return c + d

    both(f)


def test_names_only_one_branch_changes():
    def f(a, b):
        c, d = a, b
        if a < b:
            c = d + 1
        if b > 0:
            d = c
        return c, d

    both(f)


def test_host_condition_is_not_a_branch():
    def f(a, b, flag):
        if flag:
            x = a
        else:
            x = undefined_name  # noqa: F821
        return x + b

    both(f, host=(True,))


def test_for_carries_what_changes():
    def f(a, n):
        total, last, same = 0, a, a + 1
        for i in range(n):
            total += i * a
            last = i
            temporary = total + same
            total = temporary - same
        return total, last, same

    both(f)


def test_for_unrolls_host_iterables():
    def f(a, b):
        out = 0
        for k, w in enumerate((a, b, 3)):
            out = out + k * w
        return out

    both(f)


@pytest.mark.parametrize("step", [1, 2, -1, -2, -3])
def test_steps(step):
    def f(lo, hi, step):
        out = 0
        for i in range(lo, hi, step):
            out = out * 3 + i
        return out

    both(f, host=(step,))


def test_nested_loops_and_triangles():
    def f(n, m):
        total = 0
        for i in range(n):
            row = 0
            for j in range(i, m):
                if j % 2 == 0:
                    row += i * j
                else:
                    row -= 1
            total += row
        return total

    both(f)


def test_early_return():
    def f(a, b):
        if a < 0:
            return 0 - a
        c = a * b
        if c > 3:
            return c
        c += 10
        return c * 2

    both(f)


def test_return_in_nested_branches_that_may_fall_through():
    def f(a, b):
        c = 0
        if a > 0:
            if b > 0:
                return a + b
            c = 5
        elif b > 1:
            return 9
        c += a
        if c > 2:
            if b == 0:
                return 77
        return c

    both(f)


def test_different_types_on_returning_paths():
    def f(a, b):
        x = a
        if a < b:
            x = 1.5
            return 1
        return x + b

    both(f)


def test_break_and_continue():
    def f(a, n):
        total, seen = 0, 0
        for i in range(n):
            if i == a:
                continue
            if total > 6:
                break
            total += i
            seen = i
        return total, seen

    both(f, values=[-1, 0, 2, 3, 4, 9])


def test_conditional_jumps_deep_inside():
    def f(a, n):
        total = 0
        for i in range(n):
            if i > 1:
                if i == a:
                    break
                if i % 3 == 0:
                    total += 100
                    continue
                total += 1
            total += i
        else:
            total += 1000
        return total

    both(f, values=[-1, 0, 1, 2, 4, 5, 9])


def test_return_inside_loops():
    def f(a, n):
        for i in range(n):
            for j in range(i):
                if i * j == a:
                    return i * 10 + j
        return -1

    both(f, values=[0, 1, 2, 4, 6, 12])


def test_break_of_an_unrolled_loop():
    def f(a, b):
        out = 0
        for k in (1, 2, 3, 4):
            if k == a:
                break
            if k == b:
                continue
            out += k
        return out

    both(f)


def test_host_break():
    def f(a, b):
        out = a
        for k in (1, 2, 3, 4):
            if k == 3:
                break
            out += k * b
        return out

    both(f)


def test_while():
    def f(a, b):
        steps = 0
        while a < b:
            a = a * 2 + 1 if a > 0 else a + 1
            steps += 1
        return a, steps

    both(f)


def test_while_with_break_and_else():
    def f(a, n):
        i = 0
        while i < n:
            if i == a:
                out = 5  # noqa: F841
                break
            i += 1
        else:
            i = -i
        return i

    both(f)


def test_while_true():
    def f(a, n):
        i = a
        while True:
            i += 3
            if i > n:
                break
        return i

    both(f)


def test_while_true_with_return():
    def f(a, n):
        i = a
        while True:
            i += 3
            if i > n:
                return i * 2

    both(f)


def test_host_while():
    def f(a, b):
        k = 0
        while k < 4:
            a += b
            k += 1
        return a

    both(f)


def test_boolean_operators():
    def f(a, b):
        x = a > 0 and b > 0
        y = a > 1 or b > 1
        z = not (a == b)
        w = -1 <= a < b <= 3
        out = 0
        if x and z:
            out += 1
        if y or w:
            out += 10
        if w:
            out += 100
        return out

    both(f)


def test_conditional_expression():
    def f(a, b):
        return (a if a > b else b * 2) + (1 if b > 0 else 2)

    both(f)


def test_tuples_and_dataclasses_are_carried():
    from dataclasses import dataclass

    @dataclass
    class Pair:
        x: object
        y: object

    def f(a, n):
        p, t = Pair(a, 1), (a, (n, 2))
        for i in range(n):
            p = Pair(p.y, p.x + i)
            t = (t[1][0], (t[0] + i, 2))
        if a > 0:
            p = Pair(p.x, 5)
        return p.x, p.y, t

    both(f)


def test_results_may_be_tuples():
    def g(a, b):
        if a < b:
            return a, b
        return b, a

    def f(a, b):
        lo, hi = g(a, b)
        return hi - lo

    both(f)


def test_starred_and_nested_unpacking():
    def f(a, b):
        (x, y), *rest = (a, b), 1, 2
        first = second = x - y
        return first + second + rest[1]

    both(f)


def test_builtins():
    def f(a, b):
        return min(a, b, 3), max(a, b), abs(a), min(4, 5), max([a, b]), len((a, b)), isinstance(a, str)

    both(f)


def test_nested_loops_cost_their_depth():
    def f(n, m):
        t = 0
        for _ in range(n):
            for _ in range(n):
                for _ in range(n):
                    for _ in range(n):
                        t = t + m
        return t

    toy, _, _ = trace(f, 1, 1)
    assert toy.b.emitted <= 9  # at most two dry traces a level and the real one, not 2 ** 4
    assert execute(f, 2, 3) == 48


def test_walrus_and_comprehension():
    def f(a, b):
        xs = [x * 2 for x in (a, b) if x is not None]
        y = (z := xs[0] + 1) + z
        return y + sum(xs)

    both(f)


def test_docstring_assert_del_and_with():
    from contextlib import nullcontext

    def f(a, b):
        """Adds."""
        assert 1 + 1 == 2, "never"
        with nullcontext((a, b)) as (x, y):
            c = x + y
            if c > 3:
                return c
        del x
        return c * 2

    both(f)
