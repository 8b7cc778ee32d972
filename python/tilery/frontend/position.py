"""Where the user's program is: read from the Python stack, since rewritten code keeps the lines and columns of its source."""

from __future__ import annotations

import functools
import sys
import types
import warnings
import weakref
from collections.abc import Iterable
from typing import Any

from ..errors import Place


class Info:
    """What a code object made by the rewriter stands for. A part is a branch or loop body: it runs on top of its function's
    own frame."""

    def __init__(self, function: str, is_part: bool, code: types.CodeType) -> None:
        self.function, self.file, self.is_part = function, code.co_filename, is_part
        self.forgotten = weakref.ref(code, functools.partial(_forget, id(code)))
        self.points: list[tuple[int, int]] | None = None  # (line, column) of each instruction

    def point(self, code: types.CodeType, lasti: int) -> tuple[int, int]:
        if self.points is None:
            self.points = [(line or code.co_firstlineno, (column or 0) + 1) for line, _, column, _ in code.co_positions()]
        return self.points[lasti // 2]


CODES: dict[int, Info] = {}  # id(code) -> Info, as long as the code object lives


def _forget(number: int, _: object) -> None:
    del CODES[number]


def register(code: types.CodeType, function: str, is_part: bool = False) -> None:
    CODES[id(code)] = Info(function, is_part, code)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            inner = constant.co_name
            named = not (inner.startswith("__t_") or inner.startswith("<"))
            register(constant, inner if named else function, not named)


def _chain(frames: Iterable[tuple[types.CodeType, int]]) -> list[Place]:
    """frames: (code, lasti), innermost first."""
    chain: list[Place] = []
    inside = None
    for code, lasti in frames:
        info = CODES.get(id(code))
        if info is None:
            continue
        if inside is None:
            chain.append((info.file, *info.point(code, lasti), info.function))
        inside = info.function if info.is_part else None
    return chain


def current() -> list[Place]:
    """The call chain of the running program: [(file, line, column, function)], innermost first; empty outside a trace."""
    frame: types.FrameType | None = sys._getframe(1)
    frames = []
    while frame is not None:
        if id(frame.f_code) in CODES:
            frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return _chain(frames)


def of_exception(exception: BaseException) -> list[Place]:
    """The same for the place where an exception passed through the program."""
    frames, traceback = [], exception.__traceback__
    while traceback is not None:
        frames.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return _chain(reversed(frames))


def names(exception: BaseException) -> dict[str, Any]:
    """The names that the program's own code has where the exception left it, and what they hold."""
    frames, traceback = [], exception.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    found: dict[str, Any] = {}
    for frame in reversed(frames):
        info = CODES.get(id(frame.f_code))
        if info is not None:
            found = {**frame.f_globals, **frame.f_locals, **found}
            if not info.is_part:
                break
    return {name: value for name, value in found.items() if not name.startswith("__")}


_WARNED: dict[str, dict[Any, Any]] = {}  # file -> what Python's filters know of the warnings in it


def warn(message: str) -> None:
    """A warning at the running program's line; Python's filters decide how often it is shown."""
    file, line = next(((file, line) for file, line, _, _ in current()), ("<unknown>", 0))
    warnings.warn_explicit(message, UserWarning, file, line, registry=_WARNED.setdefault(file, {}))
