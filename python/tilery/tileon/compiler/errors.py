"""Upstream's error classes of kernels that cannot be compiled. What Tileon raises is one of them and of the built-in class that
the mistake has in Python, so that both `except CompilationError` and `except ValueError` catch it."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

from ...errors import Error, Place, StaticAssertion, source
from ..errors import TritonError


class CompilationError(TritonError):
    """A kernel that is no program. `__cause__` is what a function of tl said, or the same error without its caller's line."""

    def __init__(self, src: str | None = None, node: Any = None, error_message: str | None = None) -> None:
        super().__init__(error_message or "")
        self.src, self.node = src, node

    def __str__(self) -> str:
        """The places, innermost first, then what is wrong: programs look for the message in the last line."""
        parts: list[str] = []
        for place in self.chain:
            file, line, column, function = place
            begin = "  called from " if parts else ""
            parts += [f"{begin}{file}:{line}:{column}: {_within(place)}: in `{function}`", *source(place, caret=not parts)]
        return "\n".join((*parts, self.message, *([f"  hint: {self.hint}"] if self.hint else [])))

    @property
    def error_message(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        made = type(self) in _made.values()
        return _make, (type(self).__bases__ if made else (type(self),), self.message, self.hint, self.chain)


class CompileTimeAssertionFailure(CompilationError, StaticAssertion):
    """A tl.static_assert that does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """A statement that kernels may not have."""


_made: dict[tuple[type, ...], type[CompilationError]] = {}


def _make(bases: tuple[type, ...], message: str, hint: str | None, chain: Sequence[Place]) -> CompilationError:
    """An error of a class of ours alone, or of one that is also a built-in class."""
    if len(bases) > 1 and bases not in _made:
        name = (bases[1] if bases[0] is CompilationError else bases[0]).__name__
        _made[bases] = type(name, bases, {"__module__": CompilationError.__module__})
    kind: Any = _made[bases] if len(bases) > 1 else bases[0]
    made: CompilationError = kind.__new__(kind)
    Error.__init__(made, message, hint, chain)
    made.src, made.node = None, None
    return made


def _within(place: Place) -> str:
    """`at LINE:COLUMN` as upstream counts: lines from `def` on, columns from 0 where that begins."""
    file, line, column, function = place
    first = line
    while first > 1 and not linecache.getline(file, first).lstrip().startswith(f"def {function}"):
        first -= 1
    text = linecache.getline(file, first)
    indent = len(text) - len(text.lstrip())
    return f"at {line - first + 1}:{column - 1 - indent}"


def raise_of_function(kind: type[Exception], message: str) -> None:
    """language.core, which functions of tl belong to, puts one of its own here."""
    raise kind(message)


def _of_function(kind: type[Exception], message: str) -> Exception:
    """What a function of tl raised, with a traceback that ends where those functions are."""
    try:
        raise_of_function(kind, message)
    except kind as raised:
        raised.__suppress_context__ = True  # the trace's own error says the same
        return raised
    raise AssertionError(message)


def compilation_error(wrong: Error) -> CompilationError:
    """The error of a trace as upstream raises it: of the outermost call, with the inner ones and what began it as its causes."""
    if isinstance(wrong, CompilationError):
        return wrong
    builtin = next((t for t in type(wrong).__mro__ if t.__module__ == "builtins" and t is not Exception), None)
    builtin = builtin if builtin and issubclass(builtin, Exception) else None
    ours: type[CompilationError] = CompilationError
    if isinstance(wrong, StaticAssertion):
        ours, builtin = CompileTimeAssertionFailure, None
    elif builtin is SyntaxError:
        ours = UnsupportedLanguageConstruct
    host = wrong.__cause__
    cause: BaseException | None = host
    if host is None and ours is CompilationError and builtin not in (None, NameError) and not wrong.by_python:
        cause = _of_function(builtin, wrong.message)
    made = None
    for depth in range(1, max(len(wrong.chain), 1) + 1):
        made = _make((ours, builtin) if builtin else (ours,), wrong.message, wrong.hint, wrong.chain[:depth])
        made.__cause__, cause = cause, made
    assert made is not None
    return made


__all__ = ["CompilationError", "CompileTimeAssertionFailure", "TritonError", "UnsupportedLanguageConstruct"]
