"""Parts of a program by name, under which its kernels are listed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from .session import DEFAULT_PROFILE_NAME, active, deactivate, finalize, start, wait


def enter_scope(name: str, *, metrics: dict[str, Any] | None = None) -> None:
    """Kernels belong to this part from now on, in this thread; `metrics` are summed up there."""
    for session in active():
        session.enter(name, metrics)


def exit_scope() -> None:
    """The part that was entered last has ended.

    :raises tilery.RuntimeError: none was entered."""
    for session in active():
        session.leave()


class scope:
    """A part of a program: `with scope("forward"):`, or a decorator of a function."""

    def __init__(self, name: str, metrics: dict[str, Any] | None = None) -> None:
        self.name, self.metrics = name, metrics

    def __enter__(self) -> scope:
        enter_scope(self.name, metrics=self.metrics)
        return self

    def __exit__(self, *exception: object) -> None:
        exit_scope()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


class cpu_timed_scope(scope):
    """A part whose time on the host is measured, too, as `cpu_time (ns)`."""

    def __enter__(self) -> scope:
        super().__enter__()
        wait()
        self.began = time.perf_counter_ns()
        return self

    def __exit__(self, *exception: object) -> None:
        wait()
        took = time.perf_counter_ns() - self.began
        for session in active():
            session.leave().add({"cpu_time (ns)": took})


class metadata_state(scope):
    """A part whose name goes before the kernels' in it; here as a scope."""


def profile(func: Callable[..., Any] | None = None, *, name: str | None = None, **options: Any) -> Any:
    """Decorator: each call of the function is measured by a session that `finalize` writes. Options are those of `start`."""
    if func is None:
        return functools.partial(profile, name=name, **options)

    @functools.wraps(func)
    def measured(*args: Any, **kwargs: Any) -> Any:
        session = start(name or DEFAULT_PROFILE_NAME, **options)
        try:
            return func(*args, **kwargs)
        finally:
            if session is not None:
                deactivate(session)

    return measured


__all__ = ["cpu_timed_scope", "enter_scope", "exit_scope", "finalize", "metadata_state", "profile", "scope"]
