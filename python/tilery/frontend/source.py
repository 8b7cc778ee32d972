"""A function's source as an ast whose lines and columns are those of the file."""

from __future__ import annotations

import ast
import inspect
import linecache
import types

from ..errors import error


def _lines_of(function: types.FunctionType) -> tuple[list[str], int]:
    """(lines of the file, number of the function's first line)."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise error(
            OSError,
            f"the source of `{function.__name__}` is not available",
            hint="define it in a file; a kernel is compiled from its source text",
        )
    return lines, code.co_firstlineno


def _last_line(code: types.CodeType) -> int:
    """The last line that made bytecode."""
    last = max(end or 0 for _, end, _, _ in code.co_positions())
    return max([last, *(_last_line(c) for c in code.co_consts if hasattr(c, "co_positions"))])


def _parse(lines: list[str], first: int, file: str) -> ast.stmt | None:
    """The first statement of the lines, of which one is the file's line number `first`; None if they are no whole statement."""
    text = "".join(lines)
    indented = text[:1] in " \t"
    head = "\n" * (first - 2) + "if 1:\n" if indented else "\n" * (first - 1)
    try:
        module = ast.parse(head + text, file)
    except SyntaxError:
        return None
    first_statement = module.body[0]
    return first_statement.body[0] if indented and isinstance(first_statement, ast.If) else first_statement


def tree_of(function: types.FunctionType) -> ast.FunctionDef:
    """The FunctionDef of a function. Positions are the file's own, so that errors and line tables need no translation."""
    (lines, first), file = _lines_of(function), function.__code__.co_filename
    # Cutting by bytecode costs a fraction of what tokenising does; it fails only where a function ends in dead code.
    last = _last_line(function.__code__)
    definition = _parse(lines[first - 1 : last], first, file) or _parse(inspect.getblock(lines[first - 1 :]), first, file)
    if not isinstance(definition, ast.FunctionDef):
        raise error(
            TypeError,
            f"`{function.__name__}` is not defined by a `def` statement",
            hint="a lambda cannot be a kernel or a helper; write it as a function",
        )
    return definition
