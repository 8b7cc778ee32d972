# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from typing import Any

from .types import constexpr
from .value import tensor

def exp(arg0: tensor | constexpr | float) -> tensor:
    """e to the power of x."""

def fast_expf(arg0: tensor | constexpr | float) -> tensor:
    """e to the power of x."""

def exp2(arg0: tensor | constexpr | float) -> tensor:
    """2 to the power of x."""

def fast_exp2f(arg0: tensor | constexpr | float) -> tensor:
    """2 to the power of x."""

def exp10(arg0: tensor | constexpr | float) -> tensor:
    """10 to the power of x."""

def expm1(arg0: tensor | constexpr | float) -> tensor:
    """e to the power of x, less 1, exact near 0."""

def log(arg0: tensor | constexpr | float) -> tensor:
    """The natural logarithm."""

def fast_logf(arg0: tensor | constexpr | float) -> tensor:
    """The natural logarithm."""

def log2(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 2."""

def fast_log2f(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 2."""

def log10(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 10."""

def log1p(arg0: tensor | constexpr | float) -> tensor:
    """The natural logarithm of 1 + x, exact near 0."""

def pow(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x to the power of y, as a float."""

def fast_powf(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x to the power of y, as a float."""

def sin(arg0: tensor | constexpr | float) -> tensor:
    """The sine."""

def fast_sinf(arg0: tensor | constexpr | float) -> tensor:
    """The sine."""

def cos(arg0: tensor | constexpr | float) -> tensor:
    """The cosine."""

def fast_cosf(arg0: tensor | constexpr | float) -> tensor:
    """The cosine."""

def tan(arg0: tensor | constexpr | float) -> tensor:
    """The tangent."""

def asin(arg0: tensor | constexpr | float) -> tensor:
    """The arc sine."""

def acos(arg0: tensor | constexpr | float) -> tensor:
    """The arc cosine."""

def atan(arg0: tensor | constexpr | float) -> tensor:
    """The arc tangent."""

def atan2(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The angle of the point (x, y)."""

def sinh(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic sine."""

def cosh(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic cosine."""

def tanh(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic tangent."""

def fast_tanhf(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic tangent."""

def asinh(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the hyperbolic sine."""

def acosh(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the hyperbolic cosine."""

def atanh(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the hyperbolic tangent."""

def sqrt(arg0: tensor | constexpr | float) -> tensor:
    """The square root, correctly rounded."""

def sqrt_rn(arg0: tensor | constexpr | float) -> tensor:
    """The square root, correctly rounded."""

def rsqrt(arg0: tensor | constexpr | float) -> tensor:
    """1 over the square root."""

def cbrt(arg0: tensor | constexpr | float) -> tensor:
    """The cube root."""

def erf(arg0: tensor | constexpr | float) -> tensor:
    """The error function."""

def floor(arg0: tensor | constexpr | float) -> tensor:
    """The greatest integer that is at most x, as a float."""

def ceil(arg0: tensor | constexpr | float) -> tensor:
    """The smallest integer that is at least x, as a float."""

def trunc(arg0: tensor | constexpr | float) -> tensor:
    """x without its fraction, as a float."""

def rint(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties to the even one, as a float."""

def nearbyint(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties to the even one, as a float."""

def round(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties away from 0, as a float."""

def isnan(arg0: tensor | constexpr | float) -> tensor:
    """Is x NaN?"""

def isinf(arg0: tensor | constexpr | float) -> tensor:
    """Is x an infinity?"""

def isfinited(arg0: tensor | constexpr | float) -> tensor:
    """Is x neither NaN nor an infinity?"""

def finitef(arg0: tensor | constexpr | float) -> tensor:
    """Is x neither NaN nor an infinity?"""

def copysign(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x with the sign of y."""

def abs(arg0: tensor | constexpr | float) -> tensor:
    """The absolute value."""

def fma(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """x * y + z with one rounding."""

def fdiv(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, ieee_rounding: Any = ...) -> tensor:
    """x / y of floats; of float32 correctly rounded only if asked."""

def div_rn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x / y of floats, correctly rounded."""

def fast_dividef(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x / y."""

def fmod(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The remainder of x / y with the sign of x, as a float."""

def fdim(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x - y where x is greater, else 0."""
