"""Special functions that only CUDA's libdevice has, one row each. They are computed in float64, so that those of float32 are
rounded once."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from .row import SAME, SINGLE, Row, Takes

BOTH = Takes(libdevice=SINGLE)
_ROOT_PI = math.sqrt(math.pi)
# Lanczos' sum for the gamma function with g = 7.
_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def _wide(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda f, x: f.cast(function(f, f.cast(x, "float64")), f.dtype(x))


def _polynomial(f: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """The highest power first."""
    value = f.binary("+", f.binary("*", x, 0.0), coefficients[0])
    for c in coefficients[1:]:
        value = f.math("fma", value, x, c)
    return value


def _squares(f: Any, x: Any) -> tuple[Any, Any]:
    """(x * x, what that leaves out)"""
    square = f.binary("*", x, x)
    return square, f.math("fma", x, x, f.unary("-", square))


def _inverse_tail(f: Any, q: Any) -> Any:
    """The y with erfc(y) = q for q in [0, 1]: a first guess, and steps of Newton's on the logarithm."""
    safe = f.binary("max", q, 1e-320)
    t = f.math("sqrt", f.binary("*", f.math("log", f.binary("*", safe, 0.5)), -2.0))
    above = _polynomial(f, t, (0.010328, 0.802853, 2.515517))
    below = _polynomial(f, t, (0.001308, 0.189269, 1.432788, 1.0))
    y = f.binary("*", f.binary("-", t, f.binary("div_rn", above, below)), math.sqrt(0.5))
    y = f.binary("max", y, 0.0)
    for _ in range(4):
        tail = f.math("erfc", y)
        square, rest = _squares(f, y)
        slope = f.binary("*", f.math("exp", f.unary("-", square)), f.binary("*", f.binary("-", 1.0, rest), 2 / _ROOT_PI))
        change = f.binary("div_rn", f.binary("-", tail, q), slope)
        half = f.math("fma", f.binary("*", y, change), -1.0, 1.0)  # Halley's
        usable = f.binary("and", f.math("isfinite", change), f.binary("<", f.unary("abs", change), 1.0))
        y = f.select(usable, f.binary("+", y, f.binary("div_rn", change, f.binary("max", half, 0.5))), y)
    return f.select(f.binary("==", q, 0.0), float("inf"), y)


def _central(f: Any, x: Any) -> Any:
    """erfinv of |x| up to a half, by Newton's steps on erf."""
    y = f.binary("*", x, _ROOT_PI / 2)
    for _ in range(5):
        slope = f.binary("*", f.math("exp", f.unary("-", f.binary("*", y, y))), 2 / _ROOT_PI)
        y = f.binary("-", y, f.binary("div_rn", f.binary("-", f.math("erf", y), x), slope))
    return f.select(f.binary("<", f.unary("abs", x), 1e-8), f.binary("*", x, _ROOT_PI / 2), y)


def _erfinv(f: Any, x: Any) -> Any:
    size = f.unary("abs", x)
    inside = f.binary("<=", size, 0.5)
    tail = f.math("copysign", _inverse_tail(f, f.select(inside, 0.5, f.binary("-", 1.0, size))), x)
    value = f.select(inside, _central(f, f.select(inside, x, 0.0)), tail)
    return f.select(f.binary(">", size, 1.0), float("nan"), f.select(f.math("isnan", x), x, value))


def _erfcinv(f: Any, x: Any) -> Any:
    near = f.binary("-", 1.0, x)
    inside = f.binary("<=", f.unary("abs", near), 0.5)
    low = f.binary("<", x, 1.0)
    tail = _inverse_tail(f, f.select(inside, 0.5, f.binary("max", f.select(low, x, f.binary("-", 2.0, x)), 0.0)))
    value = f.select(inside, _central(f, f.select(inside, near, 0.0)), f.select(low, tail, f.unary("-", tail)))
    outside = f.binary("or", f.binary("<", x, 0.0), f.binary(">", x, 2.0))
    return f.select(outside, float("nan"), f.select(f.math("isnan", x), x, value))


def _normcdfinv(f: Any, x: Any) -> Any:
    return f.binary("*", _erfcinv(f, f.binary("*", x, 2.0)), -math.sqrt(2.0))


def _erfcx(f: Any, x: Any) -> Any:
    near = f.binary("min", x, 25.0)
    square, rest = _squares(f, near)
    scale = f.binary("*", f.math("exp", square), f.binary("+", 1.0, rest))
    direct = f.binary("*", f.math("erfc", near), scale)
    over = f.binary("div_rn", 1.0, f.binary("*", x, x))  # 1 - 1 / (2 x^2) + 3 / (2 x^2)^2 - 15 / (2 x^2)^3 ..
    series = _polynomial(f, over, (-945 / 32, 105 / 16, -15 / 8, 0.75, -0.5, 1.0))
    far = f.binary("div_rn", f.binary("*", series, 1 / _ROOT_PI), x)
    return f.select(f.math("isnan", x), x, f.select(f.binary(">", x, 25.0), far, direct))


def _lanczos(f: Any, x: Any) -> tuple[Any, Any]:
    """(sum, t) with gamma(x + 1) = sqrt(2 pi) t^(x + 1/2) exp(-t) sum, for x >= -1/2."""
    total = f.binary("+", f.binary("*", x, 0.0), _LANCZOS[0])
    for k, c in enumerate(_LANCZOS[1:], 1):
        total = f.binary("+", total, f.binary("div_rn", c, f.binary("+", x, float(k))))
    return total, f.binary("+", x, 7.5)


def _sine_of_turns(f: Any, x: Any) -> Any:
    """sin(pi x)"""
    nearest = f.math("round_even", x)
    half = f.binary("*", nearest, 0.5)
    odd = f.binary("!=", f.math("floor", half), half)
    value = f.math("sin", f.binary("*", f.binary("-", x, nearest), math.pi))
    return f.select(odd, f.unary("-", value), value)


def _tgamma(f: Any, x: Any) -> Any:
    mirrored = f.binary("<", x, 0.5)
    y = f.binary("-", f.select(mirrored, f.binary("-", 1.0, x), x), 1.0)
    total, t = _lanczos(f, f.binary("min", y, 200.0))
    power = f.binary("**", t, f.binary("*", f.binary("+", f.binary("min", y, 200.0), 0.5), 0.5))  # in halves: no overflow between
    value = f.binary("*", f.binary("*", power, f.math("exp", f.unary("-", t))), f.binary("*", total, math.sqrt(2 * math.pi)))
    value = f.binary("*", value, power)
    reflected = f.binary("div_rn", math.pi, f.binary("*", _sine_of_turns(f, x), value))
    result = f.select(mirrored, reflected, value)
    whole = f.binary("and", f.binary("<", x, 0.0), f.binary("==", f.math("floor", x), x))
    result = f.select(whole, float("nan"), f.select(f.binary("==", x, 0.0), f.math("copysign", float("inf"), x), result))
    return f.select(f.binary("==", x, float("inf")), x, f.select(f.math("isnan", x), x, result))


def _lgamma(f: Any, x: Any) -> Any:
    mirrored = f.binary("<", x, 0.5)
    y = f.binary("-", f.select(mirrored, f.binary("-", 1.0, x), x), 1.0)
    total, t = _lanczos(f, y)
    value = f.binary("+", f.math("log", f.binary("*", total, math.sqrt(2 * math.pi))), f.unary("-", t))
    value = f.math("fma", f.binary("+", y, 0.5), f.math("log", t), value)
    turn = f.unary("abs", _sine_of_turns(f, x))
    reflected = f.binary("-", f.math("log", f.binary("div_rn", math.pi, turn)), value)
    result = f.select(mirrored, reflected, value)
    whole = f.binary("and", f.binary("<=", x, 0.0), f.binary("==", f.math("floor", x), x))
    result = f.select(f.binary("or", f.binary("==", x, 1.0), f.binary("==", x, 2.0)), 0.0, result)
    endless = f.binary("or", whole, f.math("isinf", x))
    return f.select(endless, float("inf"), f.select(f.math("isnan", x), x, result))


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
    Row("erfinv", "x", _wide(_erfinv), BOTH, SAME, "The inverse of the error function.", "erfinv(x)", ulps=16,
        where="abs(x) <= 1", libdevice="erfinv"),
    Row("erfcinv", "x", _wide(_erfcinv), BOTH, SAME, "The inverse of erfc.", "erfinv(1 - x)", ulps=64,
        where="1e-14 < x < 1.999 and (x == 1 or abs(x - 1) > 1e-6)", libdevice="erfcinv"),
    Row("normcdfinv", "x", _wide(_normcdfinv), BOTH, SAME, "The inverse of the standard normal distribution.",
        "sqrt(2) * erfinv(2 * x - 1)", ulps=64, where="1e-14 < x < 0.999 and abs(x - 0.5) > 1e-6 or x == 1",
        libdevice="normcdfinv"),
    Row("erfcx", "x", _wide(_erfcx), BOTH, SAME, "exp(x * x) * erfc(x).", "exp(x * x) * erfc(x)", ulps=16,
        where="-5 < x < 1e4", libdevice="erfcx"),
    Row("tgamma", "x", _wide(_tgamma), BOTH, SAME, "The gamma function.", "gamma(x)", ulps=600,
        where="1e-3 < x < 100 or -20 < x < -1e-3 and abs(x - round(x)) > 1e-2", libdevice="tgamma"),
    Row("lgamma", "x", _wide(_lgamma), BOTH, SAME, "The logarithm of the gamma function's size.", "log(abs(gamma(x)))", ulps=600,
        where="1e-3 < x < 0.9 or 1.1 < x < 1.9 or 2.1 < x < 1e4 or x == 1", libdevice="lgamma"),
    Row("cyl_bessel_i0", "x", _wide(_bessel_i(0)), BOTH, SAME, "The modified Bessel function of order 0.", "besseli(0, x)",
        ulps=80, where="0 < abs(x) < 85", libdevice="cyl_bessel_i0"),
    Row("cyl_bessel_i1", "x", _wide(_bessel_i(1)), BOTH, SAME, "The modified Bessel function of order 1.", "besseli(1, x)",
        ulps=80, where="0 < abs(x) < 85", libdevice="cyl_bessel_i1"),
)
# fmt: on
