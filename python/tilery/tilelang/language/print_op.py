"""Printing and assertions of running kernels."""

from __future__ import annotations

from typing import Any

from ..tracing.context import kernel


def print_value(obj: Any, msg: str = "", warp_group_id: int = 0, warp_id: int = 0) -> None:
    """T.print: a scalar or a buffer, once for each program."""
    kernel("T.print").print(obj, msg)


def device_assert(condition: Any, msg: str = "", no_stack_info: bool = False) -> None:
    """Stops the launch if the condition is false."""
    kernel("T.device_assert").native.assert_true(condition, msg or "assertion failed", None)


def assume(condition: Any) -> None:
    """A fact for the simplifier."""
