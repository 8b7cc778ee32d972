"""Writes what is made from the tables of functions: docs/reference/functions.md and the stubs of the languages' modules, which
tell editors and type checkers what the modules make at run time. --check only compares. (./run python tools/functions.py)"""

import ast
import importlib
import inspect
import sys
from pathlib import Path

from tilery.core.functions.row import ALL, FLOATS, INTEGERS, NUMBERS, SINGLE, Written
from tilery.core.functions.table import ROWS
from tilery.core.tile.device import ROWS as DEVICE

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/functions.md"
HEAD = "# Made by tools/functions.py from the tables of functions.\n# ruff: noqa\n"
# Modules that make elementwise functions, with the types of operands and results in their stubs.
HOMES = {
    "core.tile.elementwise": ("tensor | constexpr | float", "tensor"),
    "core.tile.libdevice": ("tensor | constexpr | float", "tensor"),
    "tilelang.language": ("Expr | builtins.float", "Any"),
}
IMPORTS = {
    "core.tile.elementwise": "from .types import constexpr\nfrom .value import tensor\n",
    "core.tile.libdevice": "from .types import constexpr\nfrom .value import tensor\n",
    "tilelang.language": "import builtins\n\nfrom ..tracing.values import Expr\n",
}
SHARING = ("tileon.language", "tileon.language.math", "tileon.language.random")
SHARING += ("tileon.language.core", "tileon.language.standard")
SHARING += ("ninetoothed.language", "ninetoothed.language.math", "ninetoothed.language.random")
GENERIC = {"tuple": "tuple[Any, ...]"}
# Modules that hand on all of another.
ALIASES = {
    "tileon.language.extra.libdevice": "core.tile.libdevice",
    "tileon.language.extra.cuda.libdevice": "core.tile.libdevice",
    "tileon.language.extra.cpu.libdevice": "core.tile.libdevice",
    "tileon.language.extra.hip.libdevice": "core.tile.libdevice",
    "ninetoothed.language.libdevice": "core.tile.libdevice",
}
TYPES = {SINGLE: "float32, float64", FLOATS: "floats", INTEGERS: "integers", NUMBERS: "floats, integers, bool"}
TYPES |= {ALL: "fp8, floats, integers, bool", (*INTEGERS, "bool"): "integers, bool", None: "any"}
LANGUAGES = {"tl": "tl, ntl", "libdevice": "libdevice", "T": "T"}


def space_of(module):
    return importlib.import_module(f"tilery.{module}").__getattr__.__self__


def stub_path(module):
    folder = ROOT / "python/tilery" / module.replace(".", "/")
    return folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")


def relative(module, target):
    """`target` as it is imported in `module`."""
    package = module.split(".") if stub_path(module).name == "__init__.pyi" else module.split(".")[:-1]
    parts, common = target.split("."), 0
    while common < min(len(package), len(parts)) and package[common] == parts[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(parts[common:])


def kept(module):
    """What a module's source says of names that are no rows: imports and assignments, as a stub says it."""
    path, shared = stub_path(module).with_suffix(".py"), module.startswith("core.")
    values = vars(importlib.import_module(f"tilery.{module}"))
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and not shared:
            public = [a.asname or a.name for a in node.names if not (a.asname or a.name).startswith("_")]
            names = [a for a in node.names if (a.asname or a.name) in public]
            source = "." * node.level + (node.module or "")
            if names and names[0].name == "*":
                yield f"from {source} import *\n"
            else:
                yield from (f"from {source} import {a.name} as {a.asname or a.name}\n" for a in names)
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            yield f"{node.name}: Any\n"
        elif isinstance(node, ast.Assign):
            for target, value in pairs(node):
                if target.startswith("_") or isinstance(values[target], dict):
                    continue
                if isinstance(value, ast.Name):
                    yield f"{target} = {GENERIC.get(value.id, value.id)}\n"
                else:
                    yield f"{target}: {type(values[target]).__name__}\n"


def pairs(node):
    """(name, value) of an assignment, also of tuples and of a = b = value."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from ((t.id, v) for t, v in zip(target.elts, node.value.elts))


def stub(module):
    """The text of a module's stub."""
    if module in ALIASES:
        return f"{HEAD}from {relative(module, ALIASES[module])} import *\n"
    space, own = space_of(module), list(kept(module))
    own += [f"from . import {name} as {name}\n" for name in space.modules]
    for name, place in space.later.items():
        value = space.get(name)
        own.append(f"from {relative(module, value.__module__.removeprefix('tilery.'))} import {value.__name__} as {name}\n")
    taken = {line.split()[-1] for line in own}  # a module's own function stands before a row's
    imports, functions = [], []
    for name, (row, parameters) in space.offered.items():
        if name in taken:
            continue
        if isinstance(row, Written):
            home = space.get(name).__module__.removeprefix("tilery.")  # where it is defined, not where the row found it
            attribute = row.place.partition(":")[2] or row.name
            imports.append(f"from {relative(module, home)} import {attribute} as {name}\n")
        elif module in HOMES:
            functions.append(definition(name, row, parameters, *HOMES[module]))
        else:
            imports.append(f"from {relative(module, space.call)} import {name} as {name}\n")
    body = [*own, *imports]
    text = HEAD + ("from typing import Any\n\n" if functions or any("Any" in line for line in body) else "")
    return text + "".join(dict.fromkeys([IMPORTS.get(module, ""), *body])) + "".join(functions)


def definition(name, row, parameters, operand, result):
    options = [f"{option}: Any = ..." for option in row.options]
    head = f"\ndef {name}({', '.join([*(f'{p}: {operand}' for p in parameters), *options])}) -> {result}:\n"
    if len(head) > 130:
        head = f"\ndef {name}(\n    {', '.join([*(f'{p}: {operand}' for p in parameters), *options])},\n) -> {result}:\n"
    return f'{head}    """{row.meaning}"""\n'


def without_types(signature):
    """The parameters' names and defaults: the table has a column of types."""
    parameters = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def values_stub():
    """core/tile/value.pyi: what is set on the class of tiles by rows, operators and `member` stands in no source."""
    module = importlib.import_module("tilery.core.tile.value")
    importlib.import_module("tilery.core.tile.methods")  # gives tiles their methods
    text = f"{HEAD}from collections.abc import Callable\nfrom typing import Any, TypeVar\n\nfrom .types import constexpr\n"
    text += '\n_Function = TypeVar("_Function", bound=Callable[..., Any])\n'
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__ or name.startswith("_"):
            continue
        if inspect.isfunction(value):
            text += f"\ndef {name}{untyped(value)} -> {result_of(value)}: ...\n"
            continue
        text += f"\nclass {name}:\n"
        if name == "tensor":
            text += "    handle: Any\n    constant: Any\n    coding: Any\n"
        for attribute, item in sorted(vars(value).items()):
            if isinstance(item, property):
                text += f"    @property\n    def {attribute}(self) -> Any: ...\n"
            elif inspect.isfunction(item):
                result = "bool" if attribute == "__bool__" else result_of(item)
                text += f"    def {attribute}{untyped(item, 'self')} -> {result}: ...\n"
    text = text.replace("def member(function: Any) -> Any", "def member(function: _Function) -> _Function")
    return f"{text}\nOperand = tensor | constexpr | float\n"


def result_of(function):
    """What a function is annotated to give, as far as the stub has that type."""
    result = inspect.signature(function).return_annotation
    return result if result in ("tensor", "int", "str", "list[int]", "None") else "Any"


def untyped(function, bound=None):
    """A signature as a stub says it; a method's first parameter is called `bound`."""
    words = []
    for index, p in enumerate(inspect.signature(function).parameters.values()):
        if bound and not index:
            words.append(bound)
            continue
        if p.kind is p.KEYWORD_ONLY and not any(word.startswith("*") for word in words):
            words.append("*")
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        words.append(f"{star}{p.name}: Any" + (" = ..." if p.default is not p.empty else ""))
    return f"({', '.join(words)})"


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def types_of(row):
    takes = {}
    for language, title in LANGUAGES.items():
        if row.spelled(language):
            takes.setdefault(TYPES.get(getattr(row.takes, language), "any"), []).append(title)
    if len(takes) == 1:
        return next(iter(takes))
    return "; ".join(f"{', '.join(titles)}: {types}" for types, titles in takes.items())


def elementwise():
    yield "| value | tl, ntl | libdevice | T | types | result | ULP | targets | meaning |\n"
    yield "|---|---|---|---|---|---|---|---|---|\n"
    for row in (*ROWS, *DEVICE):
        columns = [code(dict(row.spelled(language))) for language in LANGUAGES]
        options = "".join(f", {o}={d!r}" for o, d in zip(row.options, map(shown, row.defaults)))
        where = "" if row.where == "True" else f"; where {row.where}"
        value = row.value.replace("|", "\\|")
        call = f"{row.name}({', '.join(row.parameters)}{options})"
        call = f"`{call}`{where}" if call == value else f"`{call}` is `{value}`{where}"
        yield f"| {call} | {' | '.join(columns)} | {types_of(row)} | {row.result.meaning} | {row.ulps} | "
        yield f"{', '.join(row.targets)} | {row.meaning} |\n"


def shown(default):
    return str(default) if type(default).__module__.startswith("tilery") else default


def written(module, prefix):
    yield "| function | takes | builder's operations | targets | meaning |\n|---|---|---|---|---|\n"
    space = space_of(module)
    for name, (row, _) in space.offered.items():
        if isinstance(row, Written):
            function = space.get(name)
            meaning = " ".join((function.__doc__ or "").split("\n\n")[0].split())
            try:
                signature = str(without_types(inspect.signature(function)))
            except ValueError:
                signature = "(...)"
            yield f"| `{prefix}.{name}{signature}` | {row.takes} | {row.operation} | {', '.join(row.targets)} | {meaning} |\n"


def refused():
    """Names of upstream that are not offered, by the reason."""
    reasons = {}
    for module, prefix in (("tileon.language", "tl"), ("core.tile.libdevice", "libdevice"), ("tilelang.language", "T")):
        space = space_of(module)
        for name, reason in sorted(space.refused.items()):
            if name not in space.offered and not hasattr(importlib.import_module(f"tilery.{module}"), name):
                reasons.setdefault(reason, []).append(f"{prefix}.{name}")
    for reason, names in sorted(reasons.items()):
        yield f"- {reason}: {code(names)}.\n"


def page():
    yield "# Functions of the languages\n\n"
    yield "Made by `./run python tools/functions.py` from the tables in `python/tilery`. `tl` is Tileon's and Triton's language; "
    yield "NineToothed's `ntl` has the same functions but numbers programs along one axis. What stands under libdevice is, in "
    yield "kernels of both, `libdevice.tanh` after `from tilery.tileon.language.extra import libdevice`, or `ntl.libdevice.tanh`."
    yield "\n\n## Elementwise functions\n"
    yield "ULP: the greatest error of float32 and float64 results in units of the last place; 0.5 is correctly rounded. fp8 and "
    yield "16-bit floats are computed in float32 and rounded once more; compositions round each step.\n"
    yield "A number in the program takes the type of the tile beside it; operands of several types promote as the language "
    yield "says.\n\n"
    yield from elementwise()
    yield "\n## Functions of tl and ntl\n"
    yield from written("tileon.language", "tl")
    yield "\n## Functions of libdevice\n"
    yield from written("core.tile.libdevice", "libdevice")
    yield "\n## Functions of T\n"
    yield from written("tilelang.language", "T")
    yield "\n## Names of upstream that are refused\n"
    yield from refused()


def texts():
    """{path: text} of everything that is made."""
    modules = (*HOMES, *SHARING, *ALIASES)
    made = {stub_path(module): stub(module) for module in modules}
    return {PAGE: "".join(page()), stub_path("core.tile.value"): values_stub(), **made}


def main():
    made = texts()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        sys.exit(f"out of date: {names}: run ./run python tools/functions.py" if stale else 0)
    for path in stale:
        path.write_text(made[path])


if __name__ == "__main__":
    main()
