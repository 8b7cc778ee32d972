"""Loops, hints and compile-time checks."""

import builtins

from ...frontend import Range
from .types import unwrap
from .value import constant_of


def range(
    arg1,
    arg2=None,
    step=None,
    num_stages=None,
    loop_unroll_factor=None,
    disallow_acc_multi_buffer=False,
    flatten=False,
    warp_specialize=False,
    disable_licm=False,
):
    """A run-time loop with hints for back ends that schedule one."""
    step = 1 if unwrap(step) is None else unwrap(step)
    hints = {
        "num_stages": num_stages,
        "unroll": loop_unroll_factor,
        "disallow_acc_multi_buffer": disallow_acc_multi_buffer,
        "flatten": flatten,
        "warp_specialize": warp_specialize,
        "disable_licm": disable_licm,
    }
    hints = {name: constant_of(value, f"`{name}` of range") for name, value in hints.items()}
    return Range(unwrap(arg1), unwrap(arg2), step, **{name: value for name, value in hints.items() if value})


def static_range(arg1, arg2=None, step=None):
    """A loop that is unrolled at compile time."""
    bounds = [constant_of(a, "a bound of static_range") for a in (arg1, arg2, step) if unwrap(a) is not None]
    return builtins.range(*bounds)


class condition:
    """The condition of a `while`, with hints."""

    def __new__(cls, arg1, disable_licm=False):
        return arg1


def multiple_of(input, values):
    """Promises that values are multiples; a hint."""
    return input


def max_contiguous(input, values):
    """Promises contiguous runs; a hint."""
    return input


def max_constancy(input, values):
    """Promises equal runs; a hint."""
    return input


def assume(cond):
    """Promises a condition; a hint."""


def debug_barrier():
    """Waits for the threads of a program; a program here is one thread."""
