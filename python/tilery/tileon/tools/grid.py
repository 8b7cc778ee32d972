"""The grid of a kernel that is compiled ahead of time: expressions of its arguments, which are read, and written as C.

    sum      = product {("+" | "-") product}
    product  = factor {("*" | "/" | "//" | "%") factor}
    factor   = ("+" | "-") factor | integer | argument | "(" sum ")" | ("min" | "max" | "cdiv") "(" sum "," sum ")"

`/` and `%` are C's, `//` rounds down, `cdiv` rounds up. All is computed in 64 bits."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any, NoReturn

from ...errors import error
from ...frontend.wording import counted, did_you_mean

_TOKEN = re.compile(r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+(?![\w.]))|(?P<name>[A-Za-z_]\w*)|(?P<mark>//|[-+*/%(),]))", re.ASCII)
_FLOOR = "({a} / {b} - ({a} % {b} != 0 && ({a} < 0) != ({b} < 0)))"
_FUNCTIONS = {"min": "({a} < {b} ? {a} : {b})", "max": "({a} > {b} ? {a} : {b})", "cdiv": f"(-{_FLOOR.replace('{a}', '(-{a})')})"}
_HINT = "write integers, arguments, + - * / // %, parentheses, min(a, b), max(a, b) and cdiv(a, b): cdiv(n, 1024), 1, 1"
_DEEPEST, _LONGEST = 40, 10000  # brackets in brackets; characters of an extent in C


class _Reader:
    """One pass over the text; every part is written as C as soon as it is read."""

    def __init__(self, text: str, given: Container[str], unknown: Any) -> None:
        self.text, self.given, self.unknown = text, given, unknown
        self.depth = 0
        self.next()

    def next(self, behind: int = 0) -> None:
        """Goes to the token behind that place."""
        found = _TOKEN.match(self.text, behind)
        rest = self.text[behind:]
        self.at = found.end() - len(found.group().lstrip()) if found else behind + len(rest) - len(rest.lstrip())
        self.end, self.kind = (found.end(), found.lastgroup) if found else (self.at, None)
        self.token = self.text[self.at : self.end]

    def wrong(self, why: str, at: int, hint: str | None = _HINT) -> NoReturn:
        shown = re.sub(r"\s", " ", self.text)
        raise error(ValueError, f"the grid {self.text!r}: {why}\n    {shown}\n    {' ' * at}^", hint=hint)

    def unexpected(self) -> NoReturn:
        if self.at == len(self.text):
            self.wrong("an expression is expected at its end", self.at)
        word = re.match(r"[\w.]+|.", self.text[self.at :])
        self.wrong(f"`{self.token or (word.group() if word else '')}` is not expected here", self.at)

    def take(self, *tokens: str) -> str:
        """The token, if it is one of these; then goes on."""
        if self.token not in tokens or not self.token:
            return ""
        taken = self.token
        self.next(self.end)
        return taken

    def need(self, token: str) -> None:
        if self.at == len(self.text):
            self.wrong(f"a `{token}` is missing at its end", self.at)
        if not self.take(token):
            self.unexpected()

    def sum(self) -> tuple[str, int | None]:
        """(C, the number that it is, if that is known)."""
        left = self.product()
        while mark := self.take("+", "-"):
            left = self.joined(left, mark, self.product(), self.at)
        return left

    def product(self) -> tuple[str, int | None]:
        left = self.factor()
        while mark := self.take("*", "/", "//", "%"):
            at = self.at
            left = self.joined(left, mark, self.factor(), at)
        return left

    def factor(self) -> tuple[str, int | None]:
        at, kind, token = self.at, self.kind, self.token
        if sign := self.take("+", "-"):
            text, value = self.nested(self.factor)
            return (text, value) if sign == "+" else (f"(-{text})", None if value is None else -value)
        if self.take("("):
            found = self.nested(self.sum)
            self.need(")")
            return found
        if kind == "number":
            return self.number(at, token)
        if kind != "name":
            self.unexpected()
        self.next(self.end)
        if token in _FUNCTIONS and self.take("("):
            left = self.nested(self.sum)
            self.need(",")
            right_at = self.at
            right = self.nested(self.sum)
            self.need(")")
            return self.joined(left, token, right, right_at)
        if token not in self.given:
            self.wrong(*self.unknown(token, at))
        return f"(int64_t){token}", None

    def number(self, at: int, token: str) -> tuple[str, int]:
        if token[0] == "0" and token.isdecimal() and len(token) > 1:
            self.wrong(f"`{token}` begins with a zero, which would make it octal in C", at)
        value = int(token, 0)
        if value >= 1 << 63:
            self.wrong(f"`{token}` does not fit into 64 bits", at)
        self.next(self.end)
        return f"INT64_C({value})", value

    def nested(self, part: Any) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.wrong("it is too deeply nested", self.at)
        found = part()
        self.depth -= 1
        return found

    def joined(self, left: tuple[str, int | None], mark: str, right: tuple[str, int | None], at: int) -> tuple[str, int | None]:
        (a, x), (b, y) = left, right
        if mark in ("/", "//", "%", "cdiv") and y == 0:
            self.wrong("there is no quotient by 0", at)
        if x is not None and y is not None:
            value = _value(mark, x, y)
            if abs(value) >= 1 << 63:
                self.wrong(f"{value} does not fit into 64 bits", at)
            return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))", value
        form = _FLOOR if mark == "//" else _FUNCTIONS.get(mark, f"({{a}} {mark} {{b}})")
        text = form.format(a=a, b=b)
        if len(text) > _LONGEST:
            self.wrong("it is too long", at)
        return text, None


def _value(mark: str, x: int, y: int) -> int:
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0  # C's
    return {
        "+": x + y, "-": x - y, "*": x * y, "/": quotient, "%": x - quotient * y, "//": x // y if y else 0,
        "cdiv": -(-x // y) if y else 0, "min": min(x, y), "max": max(x, y),
    }[mark]  # fmt: skip


def extents_of(grid: str, given: Mapping[str, str], constants: Mapping[str, Any]) -> tuple[str, ...]:
    """The three extents of a grid in C.

    :param given: {what a C caller gives: its type in the signature}.
    :param constants: what the code is compiled for.
    :raises tilery.ValueError: there are not three, or one is none of what is written above."""
    integers = [name for name, kind in given.items() if re.fullmatch(r"[iu]\d+", kind)]

    def unknown(name: str, at: int) -> tuple[str, int, str]:
        if name in given:
            return f"`{name}` is no integer, it is {given[name]}", at, f"its integers: {', '.join(integers) or 'none'}"
        known = f"write its value, {constants[name]}" if name in constants else None
        near = known or did_you_mean(name, integers) or f"its integers: {', '.join(integers) or 'none'}"
        return f"it names `{name}`, which is no argument of the C function", at, near

    reader = _Reader(grid, integers, unknown)
    extents: list[str] = []
    while True:
        at = reader.at
        text, value = reader.sum()
        if value is not None and not 0 <= value < 1 << 32:
            reader.wrong(f"an extent is {value}, which no grid has", at)
        extents.append(text)
        if not reader.take(","):
            break
    if reader.at != len(grid):
        reader.unexpected()
    if len(extents) != 3:
        raise error(ValueError, f"the grid {grid!r} has {counted(len(extents), 'expression')}; three are expected", hint=_HINT)
    return tuple(extents)
