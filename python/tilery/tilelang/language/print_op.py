"""Printing and assertions of running kernels."""

from __future__ import annotations

from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import current, kernel
from ..tracing.memory import Memory, Region, copy
from ..tracing.values import Node, Var, is_number
from ..tracing.words import WORDS
from .allocate import alloc_fragment


def print_value(obj: Any = None, msg: str = "", warp_group_id: int = 0, warp_id: int = 0) -> None:
    """T.print: a scalar, or a buffer, tensor or slice of static shape, or a message alone, once for each program."""
    trace = kernel("T.print")
    ignore("T.print", warp_group_id=warp_group_id, warp_id=warp_id)
    trace.ask_for_threads()
    if not isinstance(msg, str):
        got = WORDS.get(type(msg).__name__, repr(msg))
        raise error(TypeError, f"T.print takes a message as text after what it prints, got {got}")
    if obj is None and msg:
        trace.native.print(msg, [])
    elif isinstance(obj, Region) or (isinstance(obj, Memory) and obj.is_global):
        memory, shape = (obj.memory, obj.extents) if isinstance(obj, Region) else (obj, obj.shape)
        shown = alloc_fragment(shape, memory.dtype)
        copy(obj, shown)
        trace.print(shown, msg or f"buffer<{memory.label()}, {memory.dtype}>")
    else:
        trace.print(obj, msg)


def device_assert(condition: Any, msg: str = "", no_stack_info: bool = False) -> None:
    """Stops the launch if the condition is false."""
    ignore("T.device_assert", no_stack_info=no_stack_info)
    kernel("T.device_assert").native.assert_true(condition, msg or "assertion failed", None)


def assume(condition: Any) -> None:
    """What the caller promises. A condition on sizes and numbers is checked: numbers here, sizes by each call."""
    trace = current()
    if trace is None:
        raise error(RuntimeError, "T.assume is used outside of a kernel", hint="call it in a @T.prim_func")
    if isinstance(condition, (Var, Node)):
        trace.assume(condition)
    elif is_number(condition) and not condition:
        raise error(ValueError, "T.assume of a condition that is false")
