"""What rows mean on Python's own numbers."""

import builtins
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from .row import Row


def truncdiv(a: Any, b: Any) -> Any:
    quotient = builtins.abs(a) // builtins.abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def truncmod(a: Any, b: Any) -> Any:
    return a - b * truncdiv(a, b) if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b)


def round_away(x: float) -> float:
    return float(math.floor(x + 0.5) if x > 0 else math.ceil(x - 0.5))


NAMES: dict[str, Any] = {
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


def evaluator(row: Row, names: Mapping[str, Any]) -> Callable[..., Any]:
    """`row.value` as a function of the operands and the options, with these names in it."""
    function: Any = eval(f"lambda {', '.join((*row.parameters, *row.options))}: {row.value}", dict(names))
    function.__defaults__ = row.defaults or None
    return function


@functools.lru_cache(maxsize=None)
def on_numbers(row: Row) -> Callable[..., Any]:
    """The row's value as a function of Python's numbers."""
    return evaluator(row, NAMES)
