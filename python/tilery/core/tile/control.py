"""Loops, hints and compile-time checks."""

from __future__ import annotations

import builtins
from typing import Any

from ...frontend.language import Range
from ..ignored import ignore
from .types import unwrap
from .value import Operand, constant_of, int_of, native, tensor, to_numbers, tracer


def range(
    arg1: Operand,
    arg2: Operand | None = None,
    step: Operand | None = None,
    num_stages: int | None = None,
    loop_unroll_factor: int | None = None,
    disallow_acc_multi_buffer: bool = False,
    flatten: bool = False,
    warp_specialize: bool = False,
    disable_licm: bool = False,
) -> Range:
    """A run-time loop with hints for back ends that schedule one. A `loop_unroll_factor` below 2 asks for nothing."""
    step = 1 if unwrap(step) is None else unwrap(step)
    factor = None if unwrap(loop_unroll_factor) is None else int_of(loop_unroll_factor, "`loop_unroll_factor` of range")
    given = {
        "num_stages": num_stages,
        "loop_unroll_factor": factor,
        "disallow_acc_multi_buffer": disallow_acc_multi_buffer,
        "flatten": flatten,
        "warp_specialize": warp_specialize,
        "disable_licm": disable_licm,
    }
    known = {name: constant_of(value, f"`{name}` of range") for name, value in given.items()}
    ignore("tl.range", **known)
    hints = {"num_stages": known["num_stages"], "unroll": factor if factor is not None and factor > 1 else None}
    return Range(unwrap(arg1), unwrap(arg2), step, **{name: value for name, value in hints.items() if value})


def static_range(arg1: Operand, arg2: Operand | None = None, step: Operand | None = None) -> builtins.range:
    """A loop that is unrolled at compile time."""
    bounds = [constant_of(a, "a bound of static_range") for a in (arg1, arg2, step) if unwrap(a) is not None]
    return builtins.range(*bounds)


class condition:
    """The condition of a `while`, with hints."""

    def __new__(cls, arg1: Any, disable_licm: bool = False) -> Any:
        ignore("tl.condition", disable_licm=unwrap(disable_licm))
        return arg1


def _numbers(values: Any) -> Any:
    values = unwrap(values)
    return [unwrap(v) for v in values] if isinstance(values, (tuple, list)) else values


def multiple_of(input: tensor, values: Any) -> tensor:
    """Promises that a scalar, or the first value of each contiguous run of a tile, is a multiple; a hint for accesses."""
    values = _numbers(values)
    factors = [constant_of(v, "a number of multiple_of") for v in (values if isinstance(values, list) else [values])]
    if isinstance(input, tensor):
        native().promise_multiple(input, (min if input.handle.is_pointer else max)(factors))
    return input


def max_contiguous(input: tensor, values: Any) -> tensor:
    """Promises contiguous runs; a hint."""
    ignore("tl.max_contiguous", values=_numbers(values))
    return input


def max_constancy(input: tensor, values: Any) -> tensor:
    """Promises equal runs; a hint."""
    ignore("tl.max_constancy", values=_numbers(values))
    return input


def assume(cond: Operand) -> None:
    """Promises a condition; a hint, which launches with debug=True check."""
    cond = to_numbers(cond, "assume")
    if tracer().debug:
        native().assert_true(cond, "tl.assume: the condition does not hold")
    ignore("tl.assume", cond=cond)


def debug_barrier() -> None:
    """Waits for the threads of a program; a program here is one thread, whose loads come behind its stores."""
    tracer().acts = True
    native().kernel_hints({"waits": True})
