"""Where the user's program is: read from the Python stack, since rewritten code keeps the lines and columns of its source."""

import sys


class Info:
    """What a code object made by the rewriter stands for. A part is a branch or loop body: it runs on top of its function's
    own frame."""

    def __init__(self, function, is_part, code):
        self.function, self.file, self.is_part, self.code = function, code.co_filename, is_part, code
        self.points = None  # (line, column) of each instruction

    def point(self, lasti):
        if self.points is None:
            self.points = [
                (line or self.code.co_firstlineno, (column or 0) + 1) for line, _, column, _ in self.code.co_positions()
            ]
        return self.points[lasti // 2]


CODES = {}  # id(code) -> Info; the Info keeps the code object alive


def register(code, function, is_part=False):
    CODES[id(code)] = Info(function, is_part, code)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            inner = constant.co_name
            named = not (inner.startswith("__t_") or inner.startswith("<"))
            register(constant, inner if named else function, not named)


def _chain(frames):
    """frames: (code, lasti), innermost first."""
    chain, inside = [], None
    for code, lasti in frames:
        info = CODES.get(id(code))
        if info is None:
            continue
        if inside is None:
            chain.append((info.file, *info.point(lasti), info.function))
        inside = info.function if info.is_part else None
    return chain


def current():
    """The call chain of the running program: [(file, line, column, function)], innermost first; empty outside a trace."""
    frame, frames = sys._getframe(1), []
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return _chain(frames)


def of_exception(exception):
    """The same for the place where an exception passed through the program."""
    frames, traceback = [], exception.__traceback__
    while traceback is not None:
        frames.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return _chain(reversed(frames))
