"""Integer expressions: sizes and block sizes."""

from __future__ import annotations

import ast
from typing import Any

from tilery._native import arrange
from tilery._native.arrange import Symbol

from ..core.names import takes_options


@takes_options
def block_size(lower_bound: int | None = None, upper_bound: int | None = None) -> Symbol:
    """A fresh meta symbol, whose value is chosen when the kernel is launched: a power of two from `lower_bound` (32) to
    `upper_bound` (1024)."""
    return arrange.block_size(lower_bound, upper_bound)


def _restored(text: str, leaves: list[dict[str, Any]]) -> Symbol:
    names = [Symbol(**{name: value for name, value in leaf.items() if value}) for leaf in leaves]

    return Symbol(text).substitute({repr(name): name for name in names})


def _reduced(symbol: Symbol) -> tuple[Any, ...]:
    """An expression's text and what its names are besides their text."""
    attributes = "constexpr", "meta", "lower_bound", "upper_bound", "power_of_two"
    leaves = [{"expr": s.label} | {name: getattr(s, name) for name in attributes} for s in symbol.names()]

    return _restored, (repr(symbol), sorted(leaves, key=lambda leaf: leaf["expr"]))


def _copied(symbol: Symbol, _: Any = None) -> Symbol:
    """One of its own, which `find_and_replace` changes alone."""
    return Symbol(symbol)


class _Slices(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "slice":
            return ast.Slice(*[None if isinstance(a, ast.Constant) and a.value is None else a for a in node.args])
        return node


def _node(symbol: Symbol) -> ast.expr:
    """The expression as Python's syntax tree; calls of `slice` are slices."""
    return _Slices().visit(ast.parse(repr(symbol), mode="eval").body)


Symbol.node = property(_node)
Symbol.__reduce__ = _reduced
Symbol.__copy__ = Symbol.__deepcopy__ = _copied

__all__ = ["Symbol", "block_size"]
