"""The Bessel functions of orders 0 and 1, in float64. Up to 25 by the recurrence over orders, downwards, in which they are
stable: J_n(x) = (x/2)^n / n! * L_n with L_(n-1) = L_n - x^2/4 / (n (n+1)) L_(n+1), made absolute by 1 = J_0 + 2 J_2 + 2 J_4 + ..;
Y_0 and Y_1 are sums of the same J_n. Beyond, by the asymptotic series."""

import math
from collections.abc import Callable
from typing import Any

from .row import SAME, SINGLE, Row, Takes

BOTH = Takes(libdevice=SINGLE)
_EULER = 0.57721566490153286061
_LIMIT, _ORDERS, _TERMS = 25.0, 64, 26


def _near(f: Any, x: Any, order: int, second: bool) -> Any:
    """J or Y (`second`) of 0 < x <= 25."""
    quarter = f.binary("*", f.binary("*", x, x), 0.25)
    zero = f.binary("*", x, 0.0)
    above, here = f.binary("+", zero, 1.0), f.binary("+", zero, 1.0)
    # Sums of L_n (x/2)^n / n!, whose common powers are taken in as they go down, two orders at a time.
    norm, series = zero, zero
    first = {}
    for n in range(_ORDERS, -1, -1):
        if n % 2 == 0:  # norm: 2 J_n for n > 0, and what stands below it
            step = f.binary("*", quarter, 1.0 / ((n + 1) * (n + 2)))
            norm = f.math("fma", norm, step, f.binary("*", here, 2.0 if n else 1.0))
        if second and n > 0 and n % 2 == order:
            k = n // 2
            weight = (-1) ** k * (1.0 / k if order == 0 else (2 * k + 1) / (k * (k + 1))) if k else 0.0
            step = f.binary("*", quarter, 1.0 / ((n + 1) * (n + 2)))
            series = f.math("fma", series, step, f.binary("*", here, weight))
        first[n] = here
        if n:
            below = f.math("fma", f.unary("-", quarter), f.binary("*", above, 1.0 / (n * (n + 1))), here)
            above, here = here, below
    own = first[order] if order == 0 else f.binary("*", f.binary("*", first[1], x), 0.5)
    value = f.binary("div_rn", own, norm)
    if not second:
        return value
    # What is left of the series stands at order 2 (order 0) or order 1: its powers of x/2 that are missing.
    series = f.binary("*", series, f.binary("*", quarter, 0.5) if order == 0 else f.binary("*", x, 0.5))
    series = f.binary("div_rn", series, norm)
    logarithm = f.binary("+", f.math("log", f.binary("*", x, 0.5)), _EULER - order)
    total = f.binary("-", f.binary("*", logarithm, value), f.binary("*", series, 2.0 - order))
    if order:
        total = f.binary("-", total, f.binary("div_rn", f.binary("div_rn", first[0], norm), x))
    return f.binary("*", total, 2 / math.pi)


def _far(f: Any, x: Any, order: int, second: bool) -> Any:
    """The same of x >= 25: sqrt(2 / (pi x)) (P cos - Q sin) of x - (order / 2 + 1 / 4) pi."""
    inverse = f.binary("div_rn", 1.0, x)
    terms, term = [1.0], 1.0
    for k in range(1, _TERMS):
        term *= (4 * order * order - (2 * k - 1) ** 2) / (8 * k)
        terms.append(term)

    def alternating(start: int) -> Any:
        square = f.binary("*", inverse, inverse)
        total = f.binary("*", x, 0.0)
        for j in range((_TERMS - 1 - start) // 2, -1, -1):
            total = f.math("fma", total, square, (-1) ** j * terms[start + 2 * j])
        return total

    p, q = alternating(0), f.binary("*", alternating(1), inverse)
    sine, cosine = f.math("sin", x), f.math("cos", x)
    less, more = f.binary("-", sine, cosine), f.binary("+", sine, cosine)
    c, s = (more, less) if order == 0 else (less, f.unary("-", more))  # cos and sin of the angle, times sqrt(2)
    a, b = (f.binary("*", p, s), f.binary("*", q, c)) if second else (f.binary("*", p, c), f.unary("-", f.binary("*", q, s)))
    return f.binary("div_rn", f.binary("+", a, b), f.math("sqrt", f.binary("*", x, math.pi)))


def _function(order: int, second: bool) -> Callable[[Any, Any], Any]:
    def function(f: Any, given: Any) -> Any:
        x = f.cast(given, "float64")
        size = f.unary("abs", x)
        near = _near(f, f.binary("min", f.binary("max", size, 1e-300) if second else size, _LIMIT), order, second)
        endless = f.math("isinf", size)
        far = _far(f, f.select(endless, _LIMIT, f.binary("max", size, _LIMIT)), order, second)
        value = f.select(endless, 0.0, f.select(f.binary(">", size, _LIMIT), far, near))
        if second:
            value = f.select(f.binary("==", x, 0.0), float("-inf"), f.select(f.binary("<", x, 0.0), float("nan"), value))
        elif order:
            value = f.select(f.binary("<", x, 0.0), f.unary("-", value), value)
        return f.cast(f.select(f.math("isnan", x), x, value), f.dtype(given))

    return function


# fmt: off
ROWS = (
    Row("j0", "x", _function(0, False), BOTH, SAME, "The Bessel function of the first kind of order 0.", "besselj(0, x)",
        ulps=64, where="abs(x) < 2 or 3 < abs(x) < 5", libdevice="j0"),
    Row("j1", "x", _function(1, False), BOTH, SAME, "The Bessel function of the first kind of order 1.", "besselj(1, x)",
        ulps=64, where="1e-30 < abs(x) < 3", libdevice="j1"),
    Row("y0", "x", _function(0, True), BOTH, SAME, "The Bessel function of the second kind of order 0.", "bessely(0, x)",
        ulps=64, where="1e-30 < x < 0.8 or 1 <= x < 3.5", libdevice="y0"),
    Row("y1", "x", _function(1, True), BOTH, SAME, "The Bessel function of the second kind of order 1.", "bessely(1, x)",
        ulps=64, where="1e-30 < x < 2 or 2.4 < x < 5", libdevice="y1"),
)
# fmt: on
