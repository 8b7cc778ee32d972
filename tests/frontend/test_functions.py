"""Helpers, closures, defaults, what a trace reads, and the errors of the front end."""


import pytest
from frontend import helpers
from frontend.toy import execute, trace

from tilery.errors import Error

SCALE = 3


def test_helpers_nested_imported_and_closures():
    offset = 5

    def inner(x, *, k=2, **more):
        return x * k + offset + more.get("z", 0)

    def f(a, b):
        def local(x):
            if x > a:
                return x - a
            return x

        return inner(a) + inner(b, k=SCALE, z=1) + helpers.clamp(a, 0, 2) + local(b)

    for a, b in [(0, 1), (3, 2), (-1, 7)]:
        assert execute(f, a, b) == f(a, b)


def test_nonlocal_of_a_nested_function():
    def f(a, b):
        count = 0

        def bump(x):
            nonlocal count
            count = count + x

        for i in range(b):
            bump(a)
        return count

    assert execute(f, 2, 4) == 8


def test_methods_of_host_objects_are_helpers():
    class Affine:
        def __init__(self, scale):
            self.scale = scale

        def apply(self, x):
            if x > 3:
                return x * self.scale
            return x

    affine = Affine(5)

    def f(a, b):
        return affine.apply(a) + affine.apply(b)

    assert execute(f, 2, 7) == f(2, 7)


def test_a_closure_sees_that_a_name_has_no_value():
    def f(a, b):
        def get():
            return x

        if a < b:
            x = a
        return get()

    _, line, text = failing(f)
    assert line == 2 and "`x` is defined in only one branch of the `if`" in text


def failing(function, *numbers, host=()):
    with pytest.raises(Error) as caught:
        trace(function, *(numbers or (1, 2)), host=host)
    text = str(caught.value)
    head, _, rest = text.partition(": ")
    line = function.__code__.co_firstlineno
    position = head.split(":")
    return caught.value, int(position[-2]) - line, rest


def test_undefined_name():
    def f(a, b):
        return a + no_such_name  # noqa: F821

    e, line, text = failing(f)
    assert isinstance(e, NameError) and line == 1
    assert text == "`no_such_name` is not defined\n    return a + no_such_name  # noqa: F821\n               ^"


def test_undefined_name_near_others():
    """Of the function, in branches that are functions of their own, of what is around it, of its module; not of Python's own."""
    around = 3

    def of_the_function(a, number):
        return a + numbr + around  # noqa: F821

    def of_a_branch(a, number):
        c = number
        if a < c:
            c = numbr  # noqa: F821
        return c

    def of_what_is_around(a, b):
        return a + arond + around  # noqa: F821

    def of_the_module(a, b):
        return failng(a)  # noqa: F821

    def later(a, b):
        c = a + numbr  # noqa: F821
        number = c
        return number

    def of_none(a, b):
        return a + __t_hoks__  # noqa: F821

    cases = {of_the_function: "number", of_a_branch: "number", of_what_is_around: "around", of_the_module: "failing"}
    for function, meant in cases.items():
        assert f"  hint: did you mean {meant}?" in failing(function)[2], function.__name__
    for function in (later, of_none):
        assert "did you mean" not in failing(function)[2], function.__name__


def test_use_before_assignment():
    def f(a, b):
        c = d + a  # noqa: F821
        d = 1  # noqa: F841
        return c

    e, line, text = failing(f)
    assert line == 1 and text.startswith("`d` is not defined: it is used before it has a value")


def test_defined_in_one_branch():
    def f(a, b):
        if a < b:
            x = 1

        return x + 1

    e, line, text = failing(f)
    first = f.__code__.co_firstlineno
    assert (
        line == 4 and f"`x` is defined in only one branch of the `if` in line {first + 1}, and used in line {first + 4}" in text
    )
    assert "hint: give `x` a value before the `if`, or in both branches" in text


def test_defined_in_a_loop():
    def f(a, b):
        for i in range(a):
            x = i
        return x

    _, line, text = failing(f)
    assert line == 3 and "`x` is defined only inside the `for` of line" in text


def test_types_that_differ():
    def f(a, b):
        if a < b:
            x = a
        else:
            x = 1.5
        return x

    _, line, text = failing(f)
    assert line == 5 and "`x` is int in one branch (line " in text and ") and the host value 1.5 in the other (line " in text

    def g(a, b):
        x = a
        if a < b:
            x = a * 1.5
        return x

    _, line, text = failing(g)
    assert line == 4 and "`x` is float in one branch (line " in text and ") and int in the other (`if` in line " in text


def test_loop_that_changes_a_type():
    def f(a, b):
        x = a
        for i in range(b):
            x = x * 1.5
        return x

    e, line, text = failing(f)
    assert isinstance(e, TypeError) and line == 2 and text.startswith("the loop changes the type of `x` from int to float")


def test_one_sided_result():
    def f(a, b):
        if a < b:
            return a

    _, _, text = failing(f)
    assert "a value is returned in only one branch of the `if` in line" in text


def test_recursion():
    e, _, text = failing(helpers.endless)
    assert isinstance(e, RecursionError) and "`endless` calls itself under a run-time condition" in text
    assert execute(helpers.power, 3, host=(4,)) == 81


def test_call_chain():
    def f(a, b):
        if a < b:
            c = helpers.broken(a)
        return c

    e, _, text = failing(f)
    assert e.chain[0][0].endswith("helpers.py") and e.chain[1][0].endswith("test_functions.py") and len(e.chain) == 2
    assert e.chain[1][1] == f.__code__.co_firstlineno + 2 and "called from" in text and "in `f`" in text


@pytest.mark.parametrize("change", ["xs.append(a)", "xs[0] = a", "box.value = a", "d.update(k=1)"])
def test_host_changes_inside_run_time_regions(change, tmp_path):
    source = "class Box: pass\nbox = Box()\nxs = [1]\nd = {}\n"
    source += f"def f(a, b):\n    for i in range(a):\n        {change}\n    return a\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    space = {}
    exec(compile(source, str(path), "exec"), space)
    e, line, text = failing(space["f"])
    assert line == 2 and "is changed inside a run-time `for`" in text


def test_lists_made_inside_a_region_may_change():
    def f(a, b):
        total = 0
        for i in range(b):
            xs = []
            xs.append(i)
            xs.append(a)
            total += xs[0] * xs[1]
        return total

    assert execute(f, 3, 4) == f(3, 4)


@pytest.mark.parametrize(
    "statement, word",
    [
        ("try:\n        pass\n    finally:\n        pass", "`try`"),
        ("class C: pass", "`class`"),
        ("yield a", "`yield`"),
        ("global q", "`global`"),
    ],
)
def test_unsupported_statements(statement, word, tmp_path):
    source = f"def f(a, b):\n    {statement}\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    space = {}
    exec(compile(source, str(path), "exec"), space)
    e, line, text = failing(space["f"])
    assert line == 1 and text.startswith(f"{word} is not supported in a kernel")


def test_raise_under_a_run_time_condition():
    def f(a, b):
        if a < b:
            raise ValueError("no")
        return a

    _, line, text = failing(f)
    assert line == 2 and "`raise` inside a run-time `if`" in text


def test_exceptions_of_host_code_keep_their_kind():
    def f(a, b):
        return {}["missing"]

    e, line, text = failing(f)
    assert isinstance(e, KeyError) and line == 1


def test_no_source():
    space = {}
    exec("def f(a, b): return a", space)
    with pytest.raises(Error, match="the source of `f` is not available"):
        trace(space["f"], 1, 2)
    with pytest.raises(Error, match="not defined by a `def`"):
        trace(lambda a: a, 1)
