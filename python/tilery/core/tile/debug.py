"""Printing and assertions."""

from __future__ import annotations

from typing import Any

from ...errors import StaticAssertion, error
from .types import unwrap
from .value import Operand, called, native, plain, tensor, to_tensor, tracer


def static_print(*values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False) -> None:
    """Prints while the kernel is compiled."""
    tracer().acts = True
    if not tracer().dry:
        print(*(unwrap(v) for v in values), sep=sep, end=end, file=file, flush=flush)


def static_assert(cond: Any, msg: str = "") -> None:
    """Fails at compile time if a compile-time condition is false."""
    cond = unwrap(cond)
    if isinstance(cond, tensor):
        hint = f"use {called('device_assert')}"
        raise error(ValueError, "static_assert needs a compile-time condition, got a run-time value", hint=hint)
    if not cond:
        raise StaticAssertion(f"static_assert failed: {unwrap(msg)}" if unwrap(msg) else "static_assert failed")


def device_print(prefix: str, *args: Operand, hex: bool = False) -> None:
    """Prints values when the kernel runs, whole tiles on CPUs, a line an element on GPUs; the prefix ends with a colon."""
    prefix = unwrap(prefix)
    if not isinstance(prefix, str):
        raise error(TypeError, "device_print begins with a text", hint='say what the values are: device_print("x", x)')
    if args:
        prefix = prefix.rstrip(" ").rstrip(":") + ": "
    native().print(prefix, [to_tensor(a) for a in args], bool(unwrap(hex)))


def device_assert(cond: Operand, msg: str = "", mask: Operand | None = None) -> None:
    """Stops the launch if a condition is false; only with debug=True or TRITON_DEBUG=1."""
    tracer().acts = True
    if tracer().debug:
        native().assert_true(plain(cond), unwrap(msg) or "device_assert failed", unwrap(mask))


def expect_zero(x: Operand, cond: Operand) -> tensor:
    """The tile, of which the program says that it is 0 where a condition holds; checked with debug=True or TRITON_DEBUG=1."""
    x = to_tensor(x)
    tracer().acts = True
    if tracer().debug:
        zero = native().binary("or", native().binary("==", x, 0), native().unary("not", plain(cond)))
        native().assert_true(zero, "expect_zero: an element is not 0")
    return x
