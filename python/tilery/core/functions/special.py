"""Special functions that only CUDA's libdevice has, one row each; those that the builder composes are in compiler/functions.
They are computed in float64, so that those of float32 are rounded once."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from .row import SAME, SINGLE, Row, Takes

BOTH = Takes(libdevice=SINGLE)


def _wide(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda f, x: f.cast(function(f, f.cast(x, "float64")), f.dtype(x))


def _polynomial(f: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """The highest power first."""
    value = f.binary("+", f.binary("*", x, 0.0), coefficients[0])
    for c in coefficients[1:]:
        value = f.math("fma", value, x, c)
    return value


def _bessel_i(order: int) -> Callable[[Any, Any], Any]:
    """The modified function: its series, and from 30 on the asymptotic one."""

    def function(f: Any, x: Any) -> Any:
        size = f.unary("abs", x)
        near, far = f.binary("min", size, 30.0), f.binary("max", size, 30.0)
        quarter = f.binary("*", f.binary("*", near, near), 0.25)
        terms = [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(68, -1, -1)]
        series = _polynomial(f, quarter, terms)
        if order:
            series = f.binary("*", series, f.binary("*", near, 0.5))
        terms, term = [1.0], 1.0
        for k in range(1, 17):
            term *= -(4 * order * order - (2 * k - 1) ** 2) / (8 * k)
            terms.append(term)
        sums = _polynomial(f, f.binary("div_rn", 1.0, far), terms[::-1])
        half = f.math("exp", f.binary("*", far, 0.5))  # twice: no overflow between
        scaled = f.binary("div_rn", sums, f.math("sqrt", f.binary("*", far, 2 * math.pi)))
        value = f.binary("*", f.binary("*", scaled, half), half)
        value = f.select(f.binary(">", size, 30.0), value, series)
        value = f.select(f.math("isinf", x), float("inf"), f.select(f.math("isnan", x), x, value))
        return f.math("copysign", value, x) if order else value

    return function


# fmt: off
ROWS = (
    Row("erfinv", "x", "function erfinv", BOTH, SAME, "The inverse of the error function.", "erfinv(x)", ulps=16,
        where="abs(x) <= 1", libdevice="erfinv"),
    Row("erfcinv", "x", "function erfcinv", BOTH, SAME, "The inverse of erfc.", "erfinv(1 - x)", ulps=64,
        where="1e-14 < x < 1.999 and (x == 1 or abs(x - 1) > 1e-6)", libdevice="erfcinv"),
    Row("normcdfinv", "x", "function normcdfinv", BOTH, SAME, "The inverse of the standard normal distribution.",
        "sqrt(2) * erfinv(2 * x - 1)", ulps=64, where="1e-14 < x < 0.999 and abs(x - 0.5) > 1e-6 or x == 1",
        libdevice="normcdfinv"),
    Row("erfcx", "x", "function erfcx", BOTH, SAME, "exp(x * x) * erfc(x).", "exp(x * x) * erfc(x)", ulps=16,
        where="-5 < x < 1e4", libdevice="erfcx"),
    Row("tgamma", "x", "function tgamma", BOTH, SAME, "The gamma function.", "gamma(x)", ulps=600,
        where="1e-3 < x < 100 or -20 < x < -1e-3 and abs(x - round(x)) > 1e-2", libdevice="tgamma"),
    Row("lgamma", "x", "function lgamma", BOTH, SAME, "The logarithm of the gamma function's size.", "log(abs(gamma(x)))",
        ulps=600, where="1e-3 < x < 0.9 or 1.1 < x < 1.9 or 2.1 < x < 1e4 or x == 1", libdevice="lgamma"),
    Row("cyl_bessel_i0", "x", _wide(_bessel_i(0)), BOTH, SAME, "The modified Bessel function of order 0.", "besseli(0, x)",
        ulps=80, where="0 < abs(x) < 85", libdevice="cyl_bessel_i0"),
    Row("cyl_bessel_i1", "x", _wide(_bessel_i(1)), BOTH, SAME, "The modified Bessel function of order 1.", "besseli(1, x)",
        ulps=80, where="0 < abs(x) < 85", libdevice="cyl_bessel_i1"),
)
# fmt: on
