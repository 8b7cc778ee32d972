"""A function's source as an ast whose lines and columns are those of the file.

Text and code object are of one moment. A file may be edited between the import and the first call: its lines are kept when a
function is decorated, and a text counts as the function's only if Python compiles it to the same code."""

from __future__ import annotations
import __future__

import ast
import dis
import importlib.machinery
import inspect
import linecache
import sys
import tokenize
import types
import weakref
from collections import Counter
from collections.abc import Iterator

from ..errors import Error, error

_KEPT = 16  # versions of one file
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_texts: dict[str, list[list[str]]] = {}  # by file: its lines each time they were others, the newest last
_made_from: weakref.WeakKeyDictionary[types.FunctionType, list[str]] = weakref.WeakKeyDictionary()
_users: Counter[str] = Counter()  # by file: functions that were made of its texts and live


def _lines_now(function: types.FunctionType) -> list[str]:
    """The lines of a function's file as they are now; kept."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__) or _session_lines(function.__code__)
    known = _texts.setdefault(file, [])
    if lines and (not known or known[-1] is not lines and known[-1] != lines):
        known.append(lines)
        del known[:-_KEPT]
    return lines


def _session_lines(code: types.CodeType) -> list[str]:
    """What Python itself kept of a code that no file has: newer ones keep what was typed in a session."""
    try:
        lines, _ = inspect.findsource(code)
    except (OSError, TypeError, IndexError):
        return []
    return list(lines)


def remember(function: types.FunctionType) -> None:
    """Keeps the text of a function's file: called when the function is made, which may be long before it is compiled."""
    lines = _lines_now(function)
    if not lines:
        return
    if function not in _made_from:
        file = function.__code__.co_filename
        _users[file] += 1
        weakref.finalize(function, _forget, file).atexit = False
    _made_from[function] = lines


def _forget(file: str) -> None:
    """A function of the file is gone: with the last one its texts are."""
    _users[file] -= 1
    if not _users[file]:
        _users.pop(file, None)
        _texts.pop(file, None)


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
    first_statement = module.body[0] if module.body else None
    return first_statement.body[0] if indented and isinstance(first_statement, ast.If) else first_statement


def _block(lines: list[str], first: int) -> list[str]:
    """The lines of the definition that begins in the line number `first`."""
    try:
        return inspect.getblock(lines[first - 1 :])
    except (SyntaxError, tokenize.TokenError):
        return []


def _statements(lines: list[str], code: types.CodeType) -> Iterator[ast.stmt]:
    """What may be the definition of a code object in a text."""
    first, file = code.co_firstlineno, code.co_filename
    # Cutting by bytecode costs a fraction of what tokenising does; it fails only where a function ends in dead code.
    for cut in (lambda: lines[first - 1 : _last_line(code)], lambda: _block(lines, first)):
        statement = _parse(cut(), first, file)
        if statement is not None:
            yield statement


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _imports(function: types.FunctionType) -> Iterator[set[str]]:
    """What names the function's module may import at its top: calls of their attributes are compiled differently."""
    codes = list(_codes(function.__code__))
    names = {name for code in codes for name in code.co_names if name.isidentifier()}  # pytest has others
    yield {name for name in names if isinstance(function.__globals__.get(name), types.ModuleType)}
    called = set()
    for code in codes:
        names |= {name for name in (*code.co_varnames, *code.co_freevars) if name.isidentifier()}
        owner = None
        for instruction in dis.get_instructions(code):
            method = instruction.opname == "LOAD_METHOD" or instruction.opname == "LOAD_ATTR" and sys.version_info >= (3, 12)
            if method and owner and (instruction.opname == "LOAD_METHOD" or (instruction.arg or 0) & 1):
                called.add(owner)
            owner = instruction.argval if instruction.opname.startswith("LOAD_") and not method else None
    yield {name for name in names if name not in called}


def _compiled(definition: ast.FunctionDef, function: types.FunctionType, imports: set[str]) -> types.CodeType | None:
    """The code that Python makes of a definition where the function stands."""
    code = function.__code__
    statement: ast.stmt = definition
    around = function.__qualname__.split(".")[:-1]
    if around and around[-1] != "<locals>":  # a class: names with two underscores have its name in them
        owner = ast.parse(f"class {around[-1]}: pass").body[0]
        owner.body.append(statement)  # type: ignore[attr-defined]
        statement = owner
    if code.co_flags & inspect.CO_NESTED:
        outer = ast.parse("def _():\n" + "".join(f" {name} = None\n" for name in code.co_freevars) + " pass").body[0]
        outer.body.append(statement)  # type: ignore[attr-defined]
        statement = outer
    body = [statement]
    if imports:
        body += ast.parse("import " + ", ".join(f"_ as {name}" for name in sorted(imports))).body
    try:
        whole = compile(ast.Module(body, []), code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    except SyntaxError:
        return None
    pending = [whole]
    while pending:
        inner = [c for c in pending.pop().co_consts if isinstance(c, types.CodeType)]
        for found in inner:
            if found.co_name == definition.name and found.co_firstlineno == code.co_firstlineno:
                return found
        pending += inner
    return None


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same(a, b)
    return type(a) is type(b) and (a == b if isinstance(a, frozenset) else repr(a) == repr(b))


def _same(a: types.CodeType, b: types.CodeType) -> bool:
    """Do they compute the same, by the same lines? Columns may be missing in one (`-X no_debug_ranges`)."""

    def parts(code: types.CodeType) -> tuple[object, ...]:
        return (
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_cellvars,
            code.co_freevars,
            code.co_argcount,
            code.co_posonlyargcount,
            code.co_kwonlyargcount,
            code.co_flags,
            len(code.co_consts),
            {line for _, _, line in code.co_lines()},
        )

    return parts(a) == parts(b) and all(map(_same_constant, a.co_consts, b.co_consts))


def _fits(statement: ast.stmt, function: types.FunctionType) -> bool:
    """Does Python make the function's code of a statement?"""
    if not isinstance(statement, ast.FunctionDef):
        return False
    for imports in _imports(function):
        compiled = _compiled(statement, function, imports)
        if compiled is not None and _same(compiled, function.__code__):
            return True
    return False


def _changed_by_a_hook(function: types.FunctionType) -> bool:
    """Does its module come from a loader that may compile other code than the text's, as pytest's does?"""
    loader = function.__globals__.get("__loader__")
    return loader is not None and type(loader) not in (
        importlib.machinery.SourceFileLoader,
        importlib.machinery.SourcelessFileLoader,
    )


def _origin(file: str) -> str:
    """Where a code comes from that no file has."""
    if file == "<stdin>":
        return "standard input or of what is typed in a session"
    return "`python -c` or of what exec is given" if file == "<string>" else f"{file!r}"


def _unreadable(message: str, hint: str) -> Error:
    """No function of a language says so."""
    wrong = error(OSError, message, hint=hint)
    wrong.by_python = True
    return wrong


def _no_statement(function: types.FunctionType) -> Error:
    return error(
        TypeError,
        f"`{function.__name__}` is not defined by a `def` statement",
        hint="a lambda cannot be a kernel or a helper; write it as a function",
    )


def _found(function: types.FunctionType) -> tuple[list[str], ast.stmt]:
    """(lines of the file, the function's definition) as they were when Python compiled it."""
    code = function.__code__
    made_from = _made_from.get(function)
    now = [] if made_from else _lines_now(function)
    texts = [text for text in (made_from, *reversed(_texts.get(code.co_filename, ()))) if text]
    if not texts:
        raise _unreadable(
            f"the source of `{function.__name__}` is not available: a kernel is compiled from its text, and Python keeps none of "
            f"{_origin(code.co_filename)}",
            hint="save it in a file and import that (or `tilery run` it; `tilery run -c` and `tilery run -` keep theirs, too). "
            "Before exec(compile(text, name, 'exec')): linecache.cache[name] = (len(text), None, text.splitlines(True), name)",
        )
    for lines in texts:
        for statement in _statements(lines, code):
            if _fits(statement, function):
                return lines, statement
    lines = made_from or now or texts[0]
    found = next(_statements(lines, code), None)
    is_lambda = code.co_name == "<lambda>" and not isinstance(found, ast.FunctionDef)
    if found is not None and (is_lambda or _changed_by_a_hook(function)):
        return lines, found
    if is_lambda:  # within a statement of several lines
        raise _no_statement(function)
    raise _unreadable(
        f"the file of `{function.__name__}` was edited after Python had read it: what stands in line {code.co_firstlineno} "
        "is not what was imported",
        hint="import or reload the module again, or start the program anew",
    )


def tree_of(function: types.FunctionType) -> ast.FunctionDef:
    """The FunctionDef of a function. Positions are the file's own, so that errors and line tables need no translation."""
    definition = _found(function)[1]
    if not isinstance(definition, ast.FunctionDef):
        raise _no_statement(function)
    return definition


def lines_of(function: types.FunctionType) -> tuple[list[str], int]:
    """(the lines of a function's definition, decorators included, the number of the first one)."""
    first = function.__code__.co_firstlineno
    return _block(_found(function)[0], first), first
