# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from typing import Any

from .types import constexpr
from .value import tensor
Operations: Any
call: Any

def exp(x: tensor | constexpr | float) -> tensor:
    """e to the power of x."""

def exp2(x: tensor | constexpr | float) -> tensor:
    """2 to the power of x."""

def log(x: tensor | constexpr | float) -> tensor:
    """The natural logarithm."""

def log2(x: tensor | constexpr | float) -> tensor:
    """The logarithm to base 2."""

def sigmoid(x: tensor | constexpr | float) -> tensor:
    """1 / (1 + exp(-x))."""

def sin(x: tensor | constexpr | float) -> tensor:
    """The sine."""

def cos(x: tensor | constexpr | float) -> tensor:
    """The cosine."""

def sqrt(x: tensor | constexpr | float) -> tensor:
    """The square root, correctly rounded."""

def sqrt_rn(x: tensor | constexpr | float) -> tensor:
    """The square root, correctly rounded."""

def rsqrt(x: tensor | constexpr | float) -> tensor:
    """1 over the square root."""

def erf(x: tensor | constexpr | float) -> tensor:
    """The error function."""

def floor(x: tensor | constexpr | float) -> tensor:
    """The greatest integer that is at most x, as a float."""

def ceil(x: tensor | constexpr | float) -> tensor:
    """The smallest integer that is at least x, as a float."""

def abs(x: tensor | constexpr | float) -> tensor:
    """The absolute value."""

def add(x: tensor | constexpr | float, y: tensor | constexpr | float, sanitize_overflow: Any = ...) -> tensor:
    """x + y."""

def sub(x: tensor | constexpr | float, y: tensor | constexpr | float, sanitize_overflow: Any = ...) -> tensor:
    """x - y."""

def mul(x: tensor | constexpr | float, y: tensor | constexpr | float, sanitize_overflow: Any = ...) -> tensor:
    """x * y."""

def fma(x: tensor | constexpr | float, y: tensor | constexpr | float, z: tensor | constexpr | float) -> tensor:
    """x * y + z with one rounding."""

def fdiv(x: tensor | constexpr | float, y: tensor | constexpr | float, ieee_rounding: Any = ...) -> tensor:
    """x / y of floats; of float32 correctly rounded only if asked."""

def div_rn(x: tensor | constexpr | float, y: tensor | constexpr | float) -> tensor:
    """x / y of floats, correctly rounded."""

def umulhi(x: tensor | constexpr | float, y: tensor | constexpr | float) -> tensor:
    """The upper half of the product."""

def minimum(x: tensor | constexpr | float, y: tensor | constexpr | float, propagate_nan: Any = ...) -> tensor:
    """The smaller one; a NaN loses, or wins with PropagateNan.ALL."""

def maximum(x: tensor | constexpr | float, y: tensor | constexpr | float, propagate_nan: Any = ...) -> tensor:
    """The greater one; a NaN loses, or wins with PropagateNan.ALL."""

def clamp(
    x: tensor | constexpr | float, min: tensor | constexpr | float, max: tensor | constexpr | float, propagate_nan: Any = ...,
) -> tensor:
    """x limited to [min, max]."""
