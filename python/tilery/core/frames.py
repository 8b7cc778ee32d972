"""Tracebacks of a user's program without the frames that it does not know."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import tilery

from ..errors import Error, Place
from ..frontend import position
from .present import present

_OWN = tuple(os.path.join(os.path.realpath(folder), "") for folder in tilery.__path__)


def of_program(error: BaseException) -> types.TracebackType | None:
    """The error's traceback without our frames, and those of what led to it: what Tilery refuses says itself where. Where the
    innermost frame is ours and the error is none of Tilery's, it may be a fault of ours: all is shown from the program on."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        led = [each.__cause__, each.__context__]
        pending += led
        each.__traceback__ = _without_ours(each)
        if isinstance(each, Error) and not any(cause and _without_ours(cause) for cause in led):
            each.__cause__ = None  # it says the same in fewer words
    return error.__traceback__


def of_caller() -> list[Place]:
    """Where the program stands that called us: in traced functions the chain of their calls, else the innermost line that is
    not ours."""
    chain = position.current()
    frame: types.FrameType | None = sys._getframe(1)
    while not chain and frame is not None and frame.f_globals.get("__name__") != "tilery.cli":  # outside stands what calls that
        code = frame.f_code
        if not _is_ours(code.co_filename):
            line, _, column, _ = list(code.co_positions())[frame.f_lasti // 2]
            chain = [(code.co_filename, line or frame.f_lineno, (column or 0) + 1, code.co_name)]
        frame = frame.f_back
    return chain


def of_function(function: Any) -> list[Place]:
    """Where a function of the program begins; nothing where it is none of Python's."""
    code = getattr(function, "__code__", None)
    return [(code.co_filename, code.co_firstlineno, 1, function.__name__)] if code else []


def trimmed(error: Error) -> Error:
    """The error with the user's frames alone below the function that raises it again, and with the line of the call if it has
    none: called where programs call us."""
    error.chain = error.chain or of_caller()
    return error if error.shows_frames else error.with_traceback(_without_ours(error))


def _is_ours(file: str) -> bool:
    runpy = present("runpy")
    ran = runpy is not None and file == runpy.__file__
    return ran or file.startswith("<frozen ") or os.path.realpath(file).startswith(_OWN)


def _without_ours(error: BaseException) -> types.TracebackType | None:
    entries: list[types.TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    ours = [_is_ours(entry.tb_frame.f_code.co_filename) for entry in entries]
    first = ours.index(False) if False in ours else len(entries)
    is_fault = bool(ours) and ours[-1] and not isinstance(error, (Error, KeyboardInterrupt, ImportError))
    shown = entries[first:] if is_fault else [entry for entry, own in zip(entries, ours) if not own]
    found = None
    for entry in reversed(shown):
        entry.tb_next = found
        found = entry
    return found
