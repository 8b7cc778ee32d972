"""Printing and assertions of running kernels."""

from ..tracing.context import kernel


def print_value(obj, msg="", warp_group_id=0, warp_id=0):
    """T.print: a scalar or a buffer, once for each program."""
    kernel("T.print").print(obj, msg)


def device_assert(condition, msg="", no_stack_info=False):
    """Stops the launch if the condition is false."""
    kernel("T.device_assert").native.assert_true(condition, msg or "assertion failed", None)


def assume(condition):
    """A fact for the simplifier."""
