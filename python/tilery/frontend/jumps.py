"""Removes `return`, `break` and `continue` from a function's ast: what follows a jump moves into the other branch where one
branch
always jumps, and is guarded by a flag where it only may. What is left is straight-line code, `if`, `for`, `while` and `with`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

RESULT = "__t_result"
DONE = "__t_done"
Jump = type[ast.Return] | type[ast.Break] | type[ast.Continue]


def _escaping(statement: ast.stmt) -> set[Jump]:
    """The kinds of jump that leave this statement."""
    if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
        return {type(statement)}
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return set()
    inner = set()
    for field in ("body", "orelse"):
        if isinstance(getattr(statement, field, None), list):
            found = set().union(*(_escaping(s) for s in getattr(statement, field)), set())
            if isinstance(statement, (ast.For, ast.While)) and field == "body":
                found &= {ast.Return}
            inner |= found
    return inner


def _always_jumps(block: list[ast.stmt]) -> bool:
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        if isinstance(last.test, ast.Constant):
            return _always_jumps(last.body if last.test.value else last.orelse)
        return _always_jumps(last.body) and _always_jumps(last.orelse)
    if isinstance(last, (ast.For, ast.While)):
        endless = isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and bool(last.test.value)
        return (endless or _always_jumps(last.orelse)) and not any(ast.Break in _escaping(s) for s in last.body)
    return isinstance(last, ast.With) and _always_jumps(last.body)


def returns(block: list[ast.stmt]) -> list[ast.Return]:
    """The `return` statements of a function's body, without those of functions inside it."""
    found: list[ast.Return] = []
    pending: list[ast.AST] = list(block)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _trim(block: list[ast.stmt]) -> list[ast.stmt]:
    """Drops what follows a statement that always jumps."""
    for index, statement in enumerate(block):
        if _always_jumps([statement]):
            return block[: index + 1]
    return block


class Guard(ast.expr):
    """True while none of the flags is set."""

    _fields = ("flags",)
    flags: list[str]

    def __init__(self, flags: list[str]) -> None:
        super().__init__()
        self.flags = flags


def mark(node: ast.AST, name: str, value: object = True) -> None:
    """Says something of a node to the rewriter: "is_flag" of an assignment to a flag (its name), "is_return" of one to the
    result ("is_end": of one where the function's end is reached), "stops": the flags that end a loop, "hook": what assigns,
    "owner" of a name that is called or has a member."""
    setattr(node, name, value)


def mark_of(node: ast.AST, name: str, default: Any = None) -> Any:
    return getattr(node, name, default)


class JumpLowering:
    """Lowers one function body. A flag is set where it jumps and dropped again if nothing tests it."""

    def __init__(self) -> None:
        self.count = 0
        self.tested: set[str] = set()

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        values = [s.value for s in returns(body) if s.value is not None]
        gives = any(not isinstance(v, ast.Constant) or v.value is not None for v in values)
        if gives and not _always_jumps(body):
            body = [*body, ast.copy_location(ast.Return(None), body[-1])]
            mark(body[-1], "is_end")
        lowered = self._block(body, None)
        if DONE in self.tested:
            lowered.insert(0, self._set(DONE, False, body[0]))
        return self._drop_unused(lowered)

    def _set(self, name: str, value: bool, at: ast.AST) -> ast.Assign:
        node = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
        mark(node, "is_flag", name)
        return ast.fix_missing_locations(ast.copy_location(node, at))

    def _guard(self, flags: set[str], body: list[ast.stmt], at: ast.AST) -> ast.If:
        self.tested.update(flags)
        test = ast.copy_location(Guard(flags=sorted(flags)), at)
        return ast.copy_location(ast.If(test, body, []), at)

    def _flags(self, kinds: Iterable[Jump], loop: str | None) -> set[str]:
        names: dict[Jump, str] = {ast.Return: DONE, ast.Break: f"{loop}_break", ast.Continue: f"{loop}_continue"}
        return {names[k] for k in kinds}

    def _block(self, block: list[ast.stmt], loop: str | None) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        block = _trim(block)
        for index, s in enumerate(block):
            rest = block[index + 1 :]
            if isinstance(s, ast.Return):
                value = s.value or ast.copy_location(ast.Constant(None), s)
                result = ast.copy_location(ast.Assign([ast.copy_location(ast.Name(RESULT, ast.Store()), s)], value), s)
                mark(result, "is_return")
                mark(result, "is_end", mark_of(s, "is_end", False))
                return [*out, result, self._set(DONE, True, s)]
            if isinstance(s, (ast.Break, ast.Continue)):
                return [*out, self._set(next(iter(self._flags({type(s)}, loop))), True, s)]
            jumps = _escaping(s)
            if isinstance(s, ast.If):
                body, orelse = s.body, s.orelse
                if jumps and _always_jumps(body):
                    out.append(self._if(s, body, orelse + rest, loop))
                    return out
                if jumps and _always_jumps(orelse):
                    out.append(self._if(s, body + rest, orelse, loop))
                    return out
                out.append(self._if(s, body, orelse, loop))
            elif isinstance(s, (ast.For, ast.While)):
                out += self._loop(s, loop)
            elif isinstance(s, ast.With):
                out.append(ast.copy_location(ast.With(s.items, self._block(s.body, loop)), s))
            else:
                out.append(s)
            if jumps and rest:
                out.append(self._guard(self._flags(jumps, loop), self._block(rest, loop), rest[0]))
                return out
        return out

    def _if(self, s: ast.If, body: list[ast.stmt], orelse: list[ast.stmt], loop: str | None) -> ast.If:
        return ast.copy_location(
            ast.If(s.test, self._block(body, loop) or [ast.copy_location(ast.Pass(), s)], self._block(orelse, loop)), s
        )

    def _loop(self, s: ast.For | ast.While, outer: str | None) -> list[ast.stmt]:
        self.count += 1
        loop = f"__t_loop{self.count}"
        kinds = set().union(*(_escaping(t) for t in s.body), set())
        stops = self._flags(kinds & {ast.Return, ast.Break}, loop)
        body = self._block(s.body, loop)
        if loop + "_continue" in self.tested:
            body.insert(0, self._set(loop + "_continue", False, s))
        out: list[ast.stmt] = []
        node: ast.For | ast.While
        if ast.Break in kinds:
            out.append(self._set(loop + "_break", False, s))
            self.tested.add(loop + "_break")
        if isinstance(s, ast.For):
            if stops:
                body = [self._guard(stops, body, s.body[0])]
            node = ast.For(s.target, s.iter, body, [])
        else:
            node = ast.While(s.test, body, [])
            self.tested.update(stops)
        mark(node, "stops", sorted(stops))
        out.append(ast.copy_location(node, s))
        if s.orelse:
            orelse = self._block(s.orelse, outer)
            out.append(
                self._guard(stops, orelse, s.orelse[0]) if stops else ast.copy_location(ast.If(ast.Constant(True), orelse, []), s)
            )
            ast.fix_missing_locations(out[-1])
        return out

    def _drop_unused(self, block: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in block:
            if mark_of(s, "is_flag") not in (None, *self.tested):
                continue
            for field in ("body", "orelse"):
                if isinstance(s, (ast.If, ast.For, ast.While, ast.With)) and getattr(s, field, None):
                    setattr(s, field, self._drop_unused(getattr(s, field)))
            out.append(s)
        return out
