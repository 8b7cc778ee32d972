"""Which names a piece of code assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterable

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def _targets(node: ast.AST, out: list[str]) -> None:
    if isinstance(node, ast.Name):
        out.append(node.id)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            _targets(element, out)
    elif isinstance(node, ast.Starred):
        _targets(node.value, out)


class _Assigned(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: list[str] = []
        self.shared: list[str] = []  # declared nonlocal by a nested function: any call may change them

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names.append(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.append(node.name)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Nonlocal):
                self.shared += inner.names

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names += [(a.asname or a.name).split(".")[0] for a in node.names]

    visit_ImportFrom = visit_Import

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def _comprehension(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def assigned(block: Iterable[ast.stmt]) -> tuple[list[str], list[str]]:
    """(names assigned in order of first appearance, names that nested functions may assign)."""
    visitor = _Assigned()
    for statement in block:
        visitor.visit(statement)
    return list(dict.fromkeys(visitor.names)), list(dict.fromkeys(visitor.shared))


def parameters(arguments: ast.arguments) -> list[str]:
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    every += [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [a.arg for a in every]


def bound_in_comprehension(node: Comprehension) -> list[str]:
    out: list[str] = []
    for generator in node.generators:
        _targets(generator.target, out)
    return out


def dotted(expression: ast.expr) -> str:
    """`a.b.c` as text; empty: it is no such expression."""
    if isinstance(expression, ast.Name):
        return expression.id
    owner = dotted(expression.value) if isinstance(expression, ast.Attribute) else ""
    return f"{owner}.{expression.attr}" if owner and isinstance(expression, ast.Attribute) else ""
