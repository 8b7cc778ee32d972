"""Every option of every public function of the three languages is heeded, refused, or in the table of those without effect."""

import ast
import dis
import importlib
import inspect
import pkgutil
import textwrap
import types
from functools import lru_cache
from pathlib import Path

import pytest

from tilery import ninetoothed, tilelang, tileon
from tilery.core import ignored
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl

ROOT = Path(__file__).resolve().parent.parent
# What modules of the languages import for themselves, and methods that upstream's own runtime calls in its order of arguments.
INTERNAL = ("tilery.core.cache", "tilery.core.functions", "tilery.tilelang.tracing", "tilery.tilelang.language.eager.survey")
INTERNAL += ("tilery.tileon.backends", "tilery.tilelang.testing", "tilery.frontend", "tilery.tileon.compiler.describe")
INTERNAL += ("tilery.tileon.knobs", "tilery.tileon._internal_testing", "tilery.tileon.runtime.cache", "tilery.aot.sources")
INTERNAL += ("tilery.core.tile.tracer",)
# The same on every GPU.
CONSTANT = {"get_shared_memory_per_block", "get_registers_per_block"}
NAMES = {"tl": tl, "tileon": tileon, "T": T, "tilelang": tilelang, "ninetoothed": ninetoothed, "ntl": ntl}


def public(prefix, module, seen, depth=0):
    """(name, function) of all that programs reach from a module, each function once; methods of public classes, too."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("_"):
            continue
        if inspect.ismodule(value):
            if value.__name__.startswith("tilery") and depth < 3 and value.__name__ not in seen:
                seen.add(value.__name__)
                yield from public(f"{prefix}.{name}", value, seen, depth + 1)
        elif inspect.isclass(value):
            for method, function in vars(value).items():
                if inspect.isfunction(function) and (not method.startswith("_") or method in ("__init__", "__call__")):
                    yield from once(f"{prefix}.{name}" + (f".{method}" if method != "__init__" else ""), function, seen)
        elif callable(value):
            function = inspect.unwrap(value)
            yield from once(f"{prefix}.{name}", getattr(function, "fn", function), seen)


def once(name, function, seen):
    ours = isinstance(function, types.FunctionType) and function.__module__.startswith("tilery")
    if ours and function not in seen and not function.__module__.startswith(INTERNAL) and function.__name__ not in CONSTANT:
        seen.add(function)
        yield name, function


@pytest.fixture(autouse=True, scope="module")
def everything():
    """All modules, whatever other tests import."""
    for package in (tileon, tilelang, ninetoothed):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            try:
                importlib.import_module(module.name)
            except ImportError:  # it says what is not there
                pass


@lru_cache
def tree(function):
    try:
        parsed = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return None
    return next((node for node in ast.walk(parsed) if isinstance(node, (ast.FunctionDef, ast.Lambda))), None)


def told(call):
    """What `ignore("T.gemm", policy=policy)` tells: ("T.gemm", {"policy"}); None for other calls."""
    if not (isinstance(call, ast.Call) and getattr(call.func, "id", "") == "ignore" and call.args):
        return None
    return getattr(call.args[0], "value", None), {keyword.arg for keyword in call.keywords}


def checks(node):
    """Is it a loop that does nothing but compare options with what is known?"""
    return isinstance(node, ast.For) and all(isinstance(i, ast.If) and isinstance(i.body[-1], ast.Raise) for i in node.body)


def read(function):
    """The names that a function's body does something with: all but those that it tells `ignore`, or checks and forgets."""
    node = tree(function)
    if node is None or function.__code__.co_filename.endswith("functions/make.py"):  # made functions pass all of theirs on
        return {i.argval for i in dis.get_instructions(function.__code__) if i.opname.startswith("LOAD_")}
    inside = {id(name) for each in ast.walk(node) if (told(each) or [None])[0] or checks(each) for name in ast.walk(each)}
    body = node.body if isinstance(node.body, list) else [node.body]
    names = {
        name.id
        for statement in body
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load) and id(name) not in inside
    }
    return names | set(inspect.signature(function).parameters) if "locals" in names else names


def refuses(function):
    """Does it do nothing but raise?"""
    node = tree(function)
    if not isinstance(node, ast.FunctionDef):
        return False
    statements = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return bool(statements) and isinstance(statements[-1], ast.Raise) and not any(isinstance(s, ast.Return) for s in statements)


@lru_cache
def rows():
    """{function: options} of all tables."""
    found = {}
    for module in set(ignored.TABLES.values()):
        found.update(importlib.import_module(f"tilery.{module}").ROWS)
    return found


@pytest.mark.parametrize("prefix", NAMES)
def test_options_are_heeded_refused_or_in_the_table(prefix):
    unread = [
        f"{name}({parameter}): {function.__module__}:{function.__code__.co_firstlineno}"
        for name, function in public(prefix, NAMES[prefix], set())
        if not refuses(function)
        for parameter in set(inspect.signature(function).parameters) - {"self", "cls"} - read(function)
        if not parameter.startswith("_")
        and not any(parameter in options for row, options in rows().items() if same(row, name, function))
    ]
    assert not unread, "\n".join(unread)


def same(row, name, function):
    """Is the row of this function, by whatever name it was reached?"""
    names = (each.removesuffix(".__init__").removesuffix(".__call__") for each in (name, function.__qualname__))
    return row.rpartition(".")[2] in [each.rpartition(".")[2] for each in names]


def test_what_is_told_is_in_the_table():
    missing = []
    for path in (ROOT / "python/tilery").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if (found := told(call)) and found[0]:
                missing += [f"{path.name}: {found[0]}({option})" for option in found[1] - set(rows().get(found[0], ())) if option]
    assert not missing, "\n".join(missing)
