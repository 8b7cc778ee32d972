"""The trace in progress on this thread."""

from __future__ import annotations

import threading
from typing import Any

from ...errors import error

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
    """Raised where a kernel's body first asks which thread runs it: `launch` is traced again, for threads."""

    def __init__(self, launch: int) -> None:
        super().__init__()
        self.launch = launch


def threads(what: str) -> Any:
    """The trace in progress, in a kernel that is traced for the threads of its block."""
    trace = kernel(what)
    if trace.open.thread is None:
        raise NeedsThreads(len(trace.launches))
    if trace.parallel:
        raise error(
            ValueError,
            f"{what} inside a T.Parallel loop: its iterations belong to no thread",
            hint="use it before or after the loop, or a T.serial loop in each thread",
        )
    return trace
