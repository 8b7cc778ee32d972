"""What kernels do, how fast, by which plan, and what holds them back: `kernel.explain` and `tilery explain`. Bytes,
operations, plans and faults come from the compiler; here launches are timed, and pages written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilery import _native

from .recorder import Recorder
from .report import Report

__all__ = ["Recorder", "Report", "explained"]


def explained(call: Callable[[], Any], seconds: float = 0.2) -> Report:
    """Makes the call, with all that it does, and explains the launches in it. seconds: how long each is timed, on copies of its
    tensors.

    :raises tilery.ValueError: it launches nothing.
    :raises tilery.RuntimeError: launches are interpreted (TILERY_ORACLE)."""
    from ...errors import error

    recorder = Recorder(seconds)
    before = _native.record_launches(recorder)
    try:
        call()
    finally:
        _native.record_launches(before)
    if not recorder.kinds:
        hint = (
            "call explain with what the kernel is launched with, over a grid that is not empty;"
            " of a function that returns a kernel, call explain of that kernel"
        )
        raise error(ValueError, "the call launched no kernel in this thread", hint=hint)
    return recorder.report()
