"""The stubs say what the modules do. (tests/test_docs.py: that they are up to date.)"""

import ast
import importlib
import inspect
from pathlib import Path

import pytest
from core.functions.test_namespace import MODULES

import tilery

ROOT = Path(tilery.__file__).parent
HOMES = {"tl": "tilery.core.tile.elementwise", "libdevice": "tilery.core.tile.libdevice", "T": "tilery.tilelang.language"}


def stub_of(name):
    path = ROOT.joinpath(*name.split(".")[1:])
    return ast.parse((path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")).read_text())


def names(tree, package):
    """What a stub offers, also through stars."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for item in node.names:
                if item.name != "*":
                    yield item.asname or item.name
                    continue
                parts = package.split(".")
                module = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
                yield from importlib.import_module(module).__all__ if hasattr(importlib.import_module(module), "__all__") else ()
                yield from (n for n in vars(importlib.import_module(module)) if not n.startswith("_"))
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets)


@pytest.mark.parametrize("name", MODULES)
def test_stub_has_every_name(name):
    module = importlib.import_module(MODULES[name])
    assert set(module.__all__) <= set(names(stub_of(module.__name__), module.__package__))


@pytest.mark.parametrize("language", HOMES)
def test_signatures_in_stubs(language):
    module = importlib.import_module(HOMES[language])
    definitions = [node for node in stub_of(HOMES[language]).body if isinstance(node, ast.FunctionDef)]
    assert len(definitions) > 20
    for node in definitions:
        signature = inspect.signature(getattr(module, node.name))
        assert [a.arg for a in node.args.args] == list(signature.parameters), node.name
        optional = [p for p in signature.parameters.values() if p.default is not p.empty]
        assert len(node.args.defaults) == len(optional) and ast.get_docstring(node) == getattr(module, node.name).__doc__
