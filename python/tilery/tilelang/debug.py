"""Printing and assertions of running kernels."""

from ..errors import error
from .context import kernel
from .memory import Element, LocalVar, Memory
from .values import Expr, is_number


def print_value(obj, msg="", warp_group_id=0, warp_id=0):
    """T.print: a scalar or a buffer, once for each program."""
    trace = kernel("T.print")
    if isinstance(obj, Memory) and not obj.is_global:
        trace.native.print(msg or f"buffer<{obj.label()}, {obj.dtype}>", [trace.native.buffer_load(obj.native)])
    elif isinstance(obj, (Expr, Element, LocalVar)) or is_number(obj):
        trace.native.print(msg or f"expr<{obj!r}>", [obj])
    else:
        raise error(ValueError, f"T.print takes a number or a buffer of the kernel, got {type(obj).__name__}")


def device_assert(condition, msg="", no_stack_info=False):
    """Stops the launch if the condition is false."""
    kernel("T.device_assert").native.assert_true(condition, msg or "assertion failed", None)


def assume(condition):
    """A fact for the simplifier."""
