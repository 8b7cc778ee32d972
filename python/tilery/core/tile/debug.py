"""Printing and assertions."""

from ...errors import error, kind
from .types import unwrap
from .value import native, plain, tensor, to_tensor, tracer


def static_print(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints while the kernel is compiled."""
    if not tracer().dry:
        print(*(unwrap(v) for v in values), sep=sep, end=end, file=file, flush=flush)


def static_assert(cond, msg=""):
    """Fails at compile time if a compile-time condition is false."""
    cond = unwrap(cond)
    if isinstance(cond, tensor):
        raise error(ValueError, "static_assert needs a compile-time condition, got a run-time value", hint="use tl.device_assert")
    if not cond:
        raise kind(AssertionError)(f"static_assert failed: {unwrap(msg)}" if unwrap(msg) else "static_assert failed")


def device_print(prefix, *args, hex=False):
    """Prints values when the kernel runs."""
    native().print(unwrap(prefix), [to_tensor(a) for a in args], bool(unwrap(hex)))


def device_assert(cond, msg="", mask=None):
    """Stops the launch if a condition is false; only with debug=True or TRITON_DEBUG=1."""
    if tracer().debug:
        native().assert_true(plain(cond), unwrap(msg) or "device_assert failed", unwrap(mask))
