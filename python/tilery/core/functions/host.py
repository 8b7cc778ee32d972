"""What rows mean on Python's own numbers."""

import builtins
import functools
import math


def truncdiv(a, b):
    quotient = builtins.abs(a) // builtins.abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def truncmod(a, b):
    return a - b * truncdiv(a, b) if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b)


def round_away(x):
    return float(math.floor(x + 0.5) if x > 0 else math.ceil(x - 0.5))


NAMES = {
    **vars(math),
    "abs": builtins.abs,
    "cbrt": lambda x: math.copysign(builtins.abs(x) ** (1 / 3), x),
    "fmax": builtins.max,
    "fmin": builtins.min,
    "rint": builtins.round,
    "round_away": round_away,
    "truncdiv": truncdiv,
    "truncmod": truncmod,
}


def evaluator(row, names):
    """`row.value` as a function of the operands and the options, with these names in it."""
    function = eval(f"lambda {', '.join((*row.parameters, *row.options))}: {row.value}", dict(names))
    function.__defaults__ = row.defaults or None
    return function


@functools.lru_cache(maxsize=None)
def on_numbers(row):
    """The row's value as a function of Python's numbers."""
    return evaluator(row, NAMES)
