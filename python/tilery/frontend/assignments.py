"""Where a branch or a loop assigns a name: looked up in the source once a message has to say it."""

from __future__ import annotations

import ast
import types

from .source import tree_of


def _last(block: list[ast.stmt], name: str) -> int | None:
    lines = [
        node.lineno
        for statement in block
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    return max(lines, default=None)


def last_lines(function: types.FunctionType, line: int, name: str) -> list[int | None]:
    """For each block of the `if`, `for` or `while` that begins in a line of the function's file: the last line in which it
    assigns the name, or None."""
    for node in ast.walk(tree_of(function)):
        if isinstance(node, (ast.If, ast.For, ast.While)) and node.lineno == line:
            return [_last(node.body, name), *([_last(node.orelse, name)] if isinstance(node, ast.If) else [])]
    return []
