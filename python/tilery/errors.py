"""The one exception family: what is wrong in the user's words, where, through which calls, and what to change."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

Place = tuple[str, int, int, str]  # file, line, column, function


def with_article(name: str) -> str:
    """The name of a type behind "a" or "an", as messages have it."""
    return f"an {name}" if name[:1] in tuple("aeioAEIO") else f"a {name}"  # "a uint8", as it is spoken


def source(place: Place, caret: bool = False) -> list[str]:
    """The line of a place, indented, and below it a caret; nothing where its file cannot be read."""
    text = linecache.getline(place[0], place[1]).rstrip()
    if not text:
        return []
    indent = len(text) - len(text.lstrip())
    return ["    " + text.strip(), *(["    " + " " * max(place[2] - 1 - indent, 0) + "^"] if caret else [])]


class Error(Exception):
    """A wrong program or launch. `chain` is [(file, line, column, function)], innermost first; columns count from 1."""

    by_python = False  # Python itself, or its scopes, found it, no function of a language
    shows_frames = False  # does its traceback show where in Tilery it was raised, when a launch raises it?
    awaits_texts = False  # device functions that only the flags of a compilation may bring are missing
    when_compiled = False  # a function that is traced where it is defined is refused only when it is compiled

    def __init__(self, message: str, hint: str | None = None, chain: Iterable[Place] = ()) -> None:
        super().__init__(message)
        self.message, self.hint, self.chain = message, hint, list(chain)

    def __reduce__(self) -> tuple[object, ...]:
        bases = _BUILTINS.get(type(self))
        if bases is None:
            return type(self), (self.message, self.hint, self.chain)
        return _again, (bases, self.message, self.hint, self.chain)

    def __str__(self) -> str:
        if not self.chain:
            return self.message if not self.hint else f"{self.message}\n  hint: {self.hint}"
        file, line, column, _ = self.chain[0]
        parts = [f"{file}:{line}:{column}: {self.message}", *source(self.chain[0], caret=True)]
        for place in self.chain[1:]:
            file, line, column, function = place
            parts += [f"  called from {file}:{line}:{column} in `{function}`", *source(place)]
        if self.hint:
            parts.append(f"  hint: {self.hint}")
        return "\n".join(parts)


class StaticAssertion(Error, AssertionError):
    """A condition that a program states about what is known when it is compiled, and that does not hold."""


class GpuError(Error, RuntimeError):
    """What a GPU or its driver refuses; the message names the kernel."""


class GpuMemoryError(GpuError, MemoryError):
    """A GPU's memory is full."""


class GpuAddressError(GpuError):
    """A kernel, this one or one before it, left its tensors. The process can do no more on the GPU."""


class GpuUnsupportedError(GpuError, NotImplementedError):
    """The GPU, or its driver, cannot run the code."""


class FailedAssertion(Error, AssertionError, RuntimeError):
    """A condition that a kernel states about its values, and that did not hold when it ran. Programs of torch look for a
    RuntimeError that speaks of a device-side assert. Assertions of the compiler about a program name no program of a launch."""

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n  (a device-side assert)" if " (program " in self.message else text


_kinds: dict[tuple[type[BaseException], ...], type[Error]] = {(AssertionError, RuntimeError): FailedAssertion}
# The other way round:
_BUILTINS: dict[type[Error], tuple[type[BaseException], ...]] = {FailedAssertion: (AssertionError, RuntimeError)}


def kind(*builtins: type[BaseException]) -> type[Error]:
    """The subclass of Error that is also each of these built-in exceptions, so that `except ValueError` written for upstream
    still works."""
    if not builtins:
        return Error
    if builtins not in _kinds:
        name = builtins[0].__name__
        made = type(name if name.endswith("Error") else name + "Error", (Error, *builtins), {"__module__": "tilery"})
        _kinds[builtins], _BUILTINS[made] = made, builtins
    return _kinds[builtins]


def _again(builtins: tuple[type[BaseException], ...], *state: object) -> Error:
    return kind(*builtins)(*state)  # type: ignore[arg-type]


def error(builtin: type[BaseException], message: str, hint: str | None = None, chain: Iterable[Place] = ()) -> Error:
    """An Error that is also a `builtin` exception."""
    # NameError and others take keyword arguments of their own; Error's constructor is the only one that runs.
    return kind(builtin)(message, hint, chain)
