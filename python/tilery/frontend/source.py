"""A function's source as an ast whose lines and columns are those of the file."""
import ast
import inspect
import linecache

from ..errors import error


def text_of(function):
    """(source text as in the file, number of its first line)."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise error(OSError, f"the source of `{function.__name__}` is not available",
                    hint="define it in a file; a kernel is compiled from its source text")
    first = code.co_firstlineno
    return "".join(inspect.getblock(lines[first - 1:])), first


def tree_of(function):
    """The FunctionDef of a function. Positions are the file's own, so that errors and line tables need no translation."""
    text, first = text_of(function)
    indented = text[:1] in " \t"
    try:
        module = ast.parse("if 1:\n" + text if indented else text, function.__code__.co_filename)
    except SyntaxError:
        module = None
    body = module.body[0].body if module and indented else module.body if module else []
    definition = body[0] if body else None
    if not isinstance(definition, ast.FunctionDef):
        raise error(TypeError, f"`{function.__name__}` is not defined by a `def` statement",
                    hint="a lambda cannot be a kernel or a helper; write it as a function")
    ast.increment_lineno(definition, first - (2 if indented else 1))
    return definition
