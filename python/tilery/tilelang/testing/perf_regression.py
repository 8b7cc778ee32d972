"""A harness for programs that measure themselves: each function gives milliseconds, a table is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_results: dict[str, float] = {}


def process_func(func: Callable[..., Any], name: str | None = None, /, **kwargs: Any) -> float:
    """Calls func(**kwargs), which gives milliseconds, and notes them under its name."""
    latency = float(func(**kwargs))
    name = name or f"{func.__module__}.{func.__name__}"
    _results[name] = latency
    print(f"{name}: {latency:.4f} ms")
    return latency


def regression(prefixes: tuple[str, ...] = ("regression_",)) -> dict[str, float]:
    """Measures every function of the calling module whose name begins so; {name: milliseconds}."""
    space = sys._getframe(1).f_globals
    found = {name: value for name, value in space.items() if callable(value) and name.startswith(tuple(prefixes))}
    return {name: process_func(function, name) for name, function in found.items()}


def regression_all() -> dict[str, float]:
    """All that was measured in this process, {name: milliseconds}, printed as a table."""
    width = max(map(len, _results), default=0)
    for name, latency in sorted(_results.items()):
        print(f"{name:{width}}  {latency:10.4f} ms")
    return dict(_results)
