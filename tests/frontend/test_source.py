"""A function's text is the one that it was compiled from, whatever its file says by now."""

import importlib.util
import linecache
import os
import sys
import textwrap

import pytest

from tilery.frontend import source
from tilery.frontend.source import lines_of, remember, tree_of

TEXT = '''\
from __future__ import annotations
import math, os.path
from math import *
import json as text
if True:
    from string import Template as plural

def calls(x, text):
    return math.sqrt(x) + os.path.join(x) + text.upper() + plural.find(x) + x.lower() + x.y.z() + first.there() + pi.real()

def decorate(*names):
    return lambda function: function

def plain(x, scale={0}):
    """A text."""
    total: int = x * {0}
    return total, [y + {0} for y in range(3)], lambda z: z - {0}

def twice(x):
    return x + 1

first = twice

def twice(x):
    return x + 2

@decorate(
    "a",
    "b",
)
def decorated(x):
    if x:
        return {0}
    return -0.0
    unreachable = print(x)

def outer(a):
    b = a + 1

    def closure(x):
        def inner():
            return a * {0}
        return x + b + inner()

    class Within:
        def method(self, x):
            return a + x

        def alone(self):
            return 3
    return closure, Within

class Owner:
    __hidden = 2

    def method(self, x):
        return self.__hidden + x * {0} + super().__hash__()

    @staticmethod
    def static(x):
        try:
            with open(x) as file:
                return file
        finally:
            assert x, "a message"

def generator(n):
    for i in range(n):
        yield i if (j := i * 2) > {0} else f"{{j!r:>{{n}}}}"

def last(x): return x  # the end'''


def functions_of(space):
    closure, within = space["outer"](1)
    owner = space["Owner"]
    return [
        space["calls"], space["plain"], space["first"], space["twice"], space["decorated"], space["outer"], closure,
        within.method, within.alone, owner.method, owner.static, space["generator"], space["last"],
    ]  # fmt: skip


def imported(path, name="program"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def edit(path, text):
    """Another text, at another time, whatever a clock's resolution."""
    before = os.stat(path).st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path / "program.py"


def numbers(tree):
    """What a definition says, without its places."""
    import ast

    return ast.dump(tree)


def test_every_spelling_fits_its_own_text(path):
    edit(path, TEXT.format(7))
    for function in functions_of(imported(path)):
        tree = tree_of(function)
        assert tree.name == function.__name__
        assert lines_of(function)[1] == function.__code__.co_firstlineno


@pytest.mark.parametrize("change", [lambda t: t.replace("7", "8"), lambda t: "\n# moved\n\n" + t, lambda t: "x = 1\n"])
def test_what_was_remembered_is_what_runs(path, change):
    text = TEXT.format(7)
    edit(path, text)
    functions = functions_of(imported(path))
    before = [numbers(tree_of(f)) for f in functions]
    source._texts.pop(str(path))
    edit(path, text)
    functions = functions_of(imported(path))
    remember(functions[0])  # one of them is decorated: its file is known
    edit(path, change(text))
    linecache.checkcache()
    assert [numbers(tree_of(f)) for f in functions] == before
    assert "7" in "".join(lines_of(functions[1])[0])


EDITS = {
    "plain": [
        ("7", "8"),
        ("7", "7.0"),
        ("7", "True"),
        ("x * 7", "x + 7"),
        ("def plain", "\n\ndef plain"),
        ("A text.", "Another."),
    ],
    "decorated": [("-0.0", "0.0"), ("if x:", "if not x:"), ('    "a",\n', ""), ("return 7", "return x")],
    "first": [("def twice(x):\n    return x + 1", "def twice(x):\n    return x + 2")],
    "generator": [("> 7", ">= 7"), ("j!r", "j!s")],
}


@pytest.mark.parametrize("name, old, new", [(name, *edit) for name, edits in EDITS.items() for edit in edits])
def test_a_text_that_was_edited_is_an_error(path, name, old, new):
    text = TEXT.format(7)
    edit(path, text)
    function = imported(path)[name]
    assert old in text
    edit(path, text.replace(old, new))
    with pytest.raises(OSError, match="was edited after Python had read it") as caught:
        tree_of(function)
    assert f"`{function.__name__}`" in str(caught.value) and "reload" in str(caught.value)


@pytest.mark.parametrize("text", ["", "def plain(", "x = [\n" * 9, '"""' * 3, "class plain:\n    def plain(self): pass\n" * 3])
def test_a_text_that_is_no_program_is_the_same_error(path, text):
    edit(path, TEXT.format(7))
    function = imported(path)["plain"]
    edit(path, text)
    with pytest.raises(OSError, match="edited after|not available"):
        tree_of(function)


def test_reloaded_functions_have_the_new_text_and_old_ones_the_old(path):
    edit(path, TEXT.format(7))
    old = imported(path)["plain"]
    remember(old)
    edit(path, TEXT.format(9))
    new = imported(path)["plain"]
    assert "9" in numbers(tree_of(new)) and "7" not in numbers(tree_of(new))
    assert "7" in numbers(tree_of(old)) and "9" not in numbers(tree_of(old))


def test_texts_that_lie_in_no_file():
    """exec with an entry of linecache, as notebooks do; two cells of one name."""
    made = []
    for number in (1, 2):
        text = textwrap.dedent(f"""
            def cell(x):
                return x + {number}
        """)
        file = f"<cell {number}>"
        linecache.cache[file] = len(text), None, text.splitlines(True), file
        space = {}
        exec(compile(text, file, "exec"), space)
        made.append(space["cell"])
    assert ["value=1" in numbers(tree_of(f)) for f in made] == [True, False]
    space = {}
    exec("def nowhere(x): return x", space)
    remember(space["nowhere"])
    with pytest.raises(OSError, match="source of `nowhere` is not available: .*what exec is given\n  hint: save it in a file"):
        tree_of(space["nowhere"])


def test_what_python_keeps_of_a_session(monkeypatch):
    """Newer versions find what was typed by its code, not by the name of a file."""
    text = "def typed(x):\n    return x + 1\n"
    space = {}
    exec(compile(text, "<stdin>", "exec"), space)
    with pytest.raises(OSError, match="keeps none of standard input or of what is typed"):
        tree_of(space["typed"])
    kept = {space["typed"].__code__: text.splitlines(True)}
    monkeypatch.setattr(source.inspect, "findsource", lambda code: (kept[code], 0))
    assert tree_of(space["typed"]).name == "typed" and lines_of(space["typed"])[0] == text.splitlines(True)


def test_what_stands_around_a_function_may_change(path):
    text = TEXT.format(7)
    edit(path, text)
    function = imported(path)["generator"]
    edit(path, text.replace("def last", "def other").replace("x + 1", "x + 3"))
    assert tree_of(function).name == "generator"


def test_lambdas_are_refused_by_name(path):
    edit(path, "f = lambda x: x\ng = (lambda y:\n    y)\n")
    for name in "fg":
        with pytest.raises((TypeError, OSError), match="lambda"):
            tree_of(imported(path)[name])


def test_a_lambda_within_a_longer_statement_is_no_edited_file(path):
    edit(path, "all = {\n    1: lambda x: x,\n}\nf = all[1]\n")
    with pytest.raises(TypeError, match="not defined by a `def` statement"):
        tree_of(imported(path)["f"])


def test_code_that_an_import_hook_made_of_the_text():
    """This module's own functions: pytest rewrites their assertions."""

    def asserts(x):
        assert x > 3, "never"
        return x

    assert "Assert" in numbers(tree_of(asserts))
