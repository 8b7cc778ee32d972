"""Calls whose launches are left out: a function runs with tensors that have shapes and no elements, to learn what it gives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tilery import _native

from .present import present

_calls = threading.local()


def without_launches(call: Callable[[], Any]) -> Any:
    """What call() gives while launches of this thread do nothing. A launch that makes tensors gives what its launcher's method
    `unmade_results(arguments)` makes, others None."""
    before, outer = _native.record_launches(_left_out), launches_are_unmade()
    _calls.unmade = True
    try:
        return call()
    finally:
        _calls.unmade = outer
        _native.record_launches(before)


def launches_are_unmade() -> bool:
    """Are launches of this thread left out? What chooses by looking at elements, or by timing, chooses nothing then."""
    return getattr(_calls, "unmade", False)


def _left_out(launcher: Any, grid: Any, args: Any, kwargs: Any) -> Any:
    results = getattr(launcher, "unmade_results", None)
    return None if results is None else results(args)


def compile_time(value: Any) -> Any:
    """A compile-time argument of a call whose launches may be left out: torch's name for an extent becomes the extent that the
    name has now, for which torch then traces again where it is another one."""
    torch = present("torch") if launches_are_unmade() else None
    return int(value) if torch is not None and isinstance(value, torch.SymInt) else value
