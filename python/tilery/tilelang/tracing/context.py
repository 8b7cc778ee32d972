"""The trace in progress on this thread."""

from __future__ import annotations

import threading
from typing import Any

from ...errors import error
from .arithmetic import Arithmetic

_local = threading.local()


def current() -> Any:
    """The trace in progress, or None."""
    return getattr(_local, "trace", None)


def set_current(trace: Any) -> Any:
    """Makes `trace` the one in progress; returns the one it replaces."""
    old, _local.trace = current(), trace
    return old


def kernel(what: str) -> Any:
    """The trace in progress, in a function that may use `what`. Outside of `with T.Kernel(...)` its statements are one block."""
    trace = current()
    if trace is None:
        raise error(RuntimeError, f"{what} is used outside of a kernel", hint="call it in a function decorated with @T.prim_func")
    if not trace.in_kernel:
        trace.begin_plain()
    return trace


class NeedsThreads(BaseException):
    """Raised where the body of a kernel, or of a role in it, first asks which thread runs it: it is traced again, for threads.
    place: the launch, and which role of which role it is, () outside of all, "parts" where roles stand between such code."""

    def __init__(self, place: tuple[int, tuple[int, ...] | str]) -> None:
        super().__init__()
        self.place = place


class NeedsRows(BaseException):
    """Raised where single threads of a role use what was allocated for each thread outside of it: it is traced again, with a row
    of memory for each thread. place: the launch, and the number of the allocation."""

    def __init__(self, place: tuple[int, int]) -> None:
        super().__init__()
        self.place = place


class NeedsCopies(BaseException):
    """Raised where a role changes what each thread has, allocated outside of it, and threads that are not in it use that, too:
    it is traced again, with one of its own for this role. place: (launch, number of the allocation), the role's threads."""

    def __init__(self, place: tuple[tuple[int, int], tuple[tuple[int, int], ...]]) -> None:
        super().__init__()
        self.place = place


class NeedsRounds(BaseException):
    """Raised where a role waits at a barrier with a number: it is traced again, with a counter of such waits. place: the launch,
    and which waits are counted."""

    def __init__(self, place: tuple[int, tuple[Any, ...]]) -> None:
        super().__init__()
        self.place = place


class NeedsInbox(BaseException):
    """Raised where a block sends something to another one of its cluster: it is traced again, ready for that. place: the launch,
    and "remote" or which buffer gets something."""

    def __init__(self, place: tuple[int, str]) -> None:
        super().__init__()
        self.place = place


class NeedsTurns(BaseException):
    """Raised where all blocks meet in a loop: it is traced again, turn by turn. place: the launch, and the loop's line."""

    def __init__(self, place: tuple[int, str]) -> None:
        super().__init__()
        self.place = place


class NeedsArithmetic(BaseException):
    """Raised where a function's body asks for fast math, or for sums that are not fused: it is traced again with it."""

    def __init__(self, wanted: Arithmetic) -> None:
        super().__init__()
        self.wanted = wanted


class NeedsPairs(BaseException):
    """Raised where neighbouring iterations of a parallel loop store to one byte: it is traced again, two iterations in one.
    place: the launch, and the loop's line and variable."""

    def __init__(self, place: tuple[int, str]) -> None:
        super().__init__()
        self.place = place


def threads(what: str) -> Any:
    """The trace in progress, in a kernel that is traced for the threads of its block."""
    trace = kernel(what)
    if trace.open.thread is None:
        trace.begin_single()
    if trace.parallel:
        raise error(
            ValueError,
            f"{what} inside a T.Parallel loop: its iterations belong to no thread",
            hint="use it before or after the loop, or a T.serial loop in each thread",
        )
    return trace
