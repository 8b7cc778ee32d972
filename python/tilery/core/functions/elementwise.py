"""The elementwise functions of all languages, one row each. To add a function, add a row: the function itself, its stubs, its
line in docs/reference/functions.md and its tests come from here (`./run python tools/functions.py` writes the two texts)."""

from typing import Any

from .nan import PropagateNan
from .row import ALL, BOOL, FLOAT, FLOATS, INTEGERS, NUMBER, NUMBERS, QUOTIENT, SAME, SINGLE, Row, Takes

# exp and its kin: Triton's own take no narrow floats and no integers.
FUNCTION = Takes(tl=SINGLE, libdevice=ALL, T=ALL)
ONLY_FLOATS = Takes(tl=FLOATS, libdevice=FLOATS, T=NUMBERS)
ANY = Takes(tl=NUMBERS, libdevice=NUMBERS, T=NUMBERS)
INTEGRAL = Takes(tl=INTEGERS, libdevice=INTEGERS, T=(*INTEGERS, "bool"))


def _sigmoid(f: Any, x: Any) -> Any:
    return f.binary("/", 1.0, f.binary("+", 1.0, f.math("exp", f.unary("-", f.to_float(x)))))


def _quotient(f: Any, x: Any, y: Any, ieee_rounding: Any = False) -> Any:
    return f.binary("div_rn" if ieee_rounding else "/", x, y)


def _arithmetic(op: str) -> Any:
    return lambda f, x, y, sanitize_overflow=True: (f.binary if sanitize_overflow else f.wrapping)(op, x, y)


def _difference(f: Any, x: Any, y: Any) -> Any:
    x, y = f.to_float(x), f.to_float(y)
    return f.select(f.binary("<=", x, y), 0.0, f.binary("-", x, y))


def _power(f: Any, x: Any, y: Any) -> Any:
    return f.binary("**", f.to_float(x), f.to_float(y))


def _minimum(f: Any, x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> Any:
    return f.binary("min_nan" if propagate_nan is PropagateNan.ALL else "min", x, y)


def _maximum(f: Any, x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> Any:
    return f.binary("max_nan" if propagate_nan is PropagateNan.ALL else "max", x, y)


def _clamp(f: Any, x: Any, low: Any, high: Any, propagate_nan: Any = PropagateNan.NONE) -> Any:
    return _minimum(f, _maximum(f, x, low, propagate_nan), high, propagate_nan)


_MODES = {"ties-to-even": "round_even", "ties-away-from-zero": "round"}


def _round(f: Any, x: Any, mode: Any) -> Any:
    return f.math(_MODES[mode], x)


_NAN = {"propagate_nan": PropagateNan.NONE}
_OVERFLOW = {"sanitize_overflow": True}

# fmt: off
ROWS = (
    # Exponentials and logarithms.
    Row("exp", "x", "math exp", FUNCTION, FLOAT, "e to the power of x.", "exp(x)",
        method=True, tl="exp", libdevice="exp fast_expf", T="exp __exp"),
    Row("exp2", "x", "math exp2", FUNCTION, FLOAT, "2 to the power of x.", "2**x",
        method=True, tl="exp2", libdevice="exp2 fast_exp2f", T="exp2"),
    Row("exp10", "x", "math exp10", FUNCTION, FLOAT, "10 to the power of x.", "10**x", libdevice="exp10", T="exp10 __exp10"),
    Row("expm1", "x", "math expm1", FUNCTION, FLOAT, "e to the power of x, less 1, exact near 0.", "expm1(x)", libdevice="expm1"),
    Row("log", "x", "math log", FUNCTION, FLOAT, "The natural logarithm.", "log(x)",
        method=True, tl="log", libdevice="log fast_logf", T="log __log"),
    Row("log2", "x", "math log2", FUNCTION, FLOAT, "The logarithm to base 2.", "log2(x)",
        method=True, tl="log2", libdevice="log2 fast_log2f", T="log2 __log2"),
    Row("log10", "x", "math log10", FUNCTION, FLOAT, "The logarithm to base 10.", "log10(x)",
        libdevice="log10", T="log10 __log10"),
    Row("log1p", "x", "math log1p", FUNCTION, FLOAT, "The natural logarithm of 1 + x, exact near 0.", "log1p(x)",
        libdevice="log1p", T="log1p"),
    Row("pow", "x, y", _power, Takes(libdevice=NUMBERS, T=NUMBERS), FLOAT, "x to the power of y, as a float.", "x**y",
        libdevice="pow fast_powf", T="pow"),
    Row("sigmoid", "x", _sigmoid, Takes(tl=SINGLE, T=NUMBERS), FLOAT, "1 / (1 + exp(-x)).", "1 / (1 + exp(-x))",
        ulps=4, where="x > (-11 if bits == 16 else -87)", method=True, tl="sigmoid", T="sigmoid"),

    # Trigonometric and hyperbolic functions.
    Row("sin", "x", "math sin", FUNCTION, FLOAT, "The sine.", "sin(x)",
        method=True, tl="sin", libdevice="sin fast_sinf", T="sin __sin"),
    Row("cos", "x", "math cos", FUNCTION, FLOAT, "The cosine.", "cos(x)",
        method=True, tl="cos", libdevice="cos fast_cosf", T="cos __cos"),
    Row("tan", "x", "math tan", FUNCTION, FLOAT, "The tangent.", "tan(x)", libdevice="tan", T="tan __tan"),
    Row("asin", "x", "math asin", FUNCTION, FLOAT, "The arc sine.", "asin(x)", libdevice="asin", T="asin"),
    Row("acos", "x", "math acos", FUNCTION, FLOAT, "The arc cosine.", "acos(x)", libdevice="acos", T="acos"),
    Row("atan", "x", "math atan", FUNCTION, FLOAT, "The arc tangent.", "atan(x)", libdevice="atan", T="atan"),
    Row("atan2", "y, x", "math atan2", FUNCTION, FLOAT, "The angle of the point (x, y).", "atan2(y, x)",
        libdevice="atan2", T="atan2"),
    Row("sinh", "x", "math sinh", FUNCTION, FLOAT, "The hyperbolic sine.", "sinh(x)", libdevice="sinh", T="sinh"),
    Row("cosh", "x", "math cosh", FUNCTION, FLOAT, "The hyperbolic cosine.", "cosh(x)", libdevice="cosh", T="cosh"),
    Row("tanh", "x", "math tanh", FUNCTION, FLOAT, "The hyperbolic tangent.", "tanh(x)",
        libdevice="tanh fast_tanhf", T="tanh"),
    Row("asinh", "x", "math asinh", FUNCTION, FLOAT, "The inverse of the hyperbolic sine.", "asinh(x)",
        libdevice="asinh", T="asinh"),
    Row("acosh", "x", "math acosh", FUNCTION, FLOAT, "The inverse of the hyperbolic cosine.", "acosh(x)",
        libdevice="acosh", T="acosh"),
    Row("atanh", "x", "math atanh", FUNCTION, FLOAT, "The inverse of the hyperbolic tangent.", "atanh(x)",
        libdevice="atanh", T="atanh"),

    # Roots and the error function.
    Row("sqrt", "x", "math sqrt", FUNCTION, FLOAT, "The square root, correctly rounded.", "sqrt(x)",
        ulps=0.5, method=True, tl="sqrt", libdevice="sqrt", T="sqrt"),
    Row("sqrt_rn", "x", "math sqrt", FUNCTION, FLOAT, "The square root, correctly rounded.", "sqrt(x)",
        ulps=0.5, method=True, tl="sqrt_rn", libdevice="sqrt_rn"),
    Row("rsqrt", "x", "math rsqrt", FUNCTION, FLOAT, "1 over the square root.", "1 / sqrt(x)",
        method=True, tl="rsqrt", libdevice="rsqrt", T="rsqrt"),
    Row("cbrt", "x", "math cbrt", FUNCTION, FLOAT, "The cube root.", "cbrt(x)",
        ulps=4, libdevice="cbrt"),  # of float64 the C library's, 3.7 at most
    Row("erf", "x", "math erf", FUNCTION, FLOAT, "The error function.", "erf(x)",
        method=True, tl="erf", libdevice="erf", T="erf"),

    # Rounding to integers, as floats.
    Row("floor", "x", "math floor", FUNCTION, FLOAT, "The greatest integer that is at most x, as a float.", "floor(x)",
        ulps=0.5, method=True, tl="floor", libdevice="floor", T="floor"),
    Row("ceil", "x", "math ceil", FUNCTION, FLOAT, "The smallest integer that is at least x, as a float.", "ceil(x)",
        ulps=0.5, method=True, tl="ceil", libdevice="ceil", T="ceil"),
    Row("trunc", "x", "math trunc", FUNCTION, FLOAT, "x without its fraction, as a float.", "trunc(x)",
        ulps=0.5, libdevice="trunc", T="trunc"),
    Row("rint", "x", "math round_even", FUNCTION, FLOAT, "The nearest integer, ties to the even one, as a float.", "rint(x)",
        ulps=0.5, libdevice="rint nearbyint", T="nearbyint"),
    Row("round", "x", "math round", FUNCTION, FLOAT, "The nearest integer, ties away from 0, as a float.", "round_away(x)",
        ulps=0.5, libdevice="round"),
    Row("round_mode", "x", _round, FUNCTION, FLOAT, "The nearest integer, ties by mode, as a float.",
        "rint(x) if mode == 'ties-to-even' else round_away(x)", ulps=0.5, options={"mode": tuple(_MODES)}, T="round"),

    # Questions about floats.
    Row("isnan", "x", "math isnan", FUNCTION, BOOL, "Is x NaN?", "isnan(x)", libdevice="isnan", T="isnan"),
    Row("isinf", "x", "math isinf", FUNCTION, BOOL, "Is x an infinity?", "isinf(x)", libdevice="isinf", T="isinf"),
    Row("isfinite", "x", "math isfinite", FUNCTION, BOOL, "Is x neither NaN nor an infinity?", "isfinite(x)",
        libdevice="isfinited finitef", T="isfinite"),
    Row("copysign", "x, y", "math copysign", FUNCTION, FLOAT, "x with the sign of y.", "copysign(x, y)",
        ulps=0.5, libdevice="copysign", T="copysign"),

    # Arithmetic.
    Row("abs", "x", "unary abs", Takes(tl=ALL, libdevice=ALL, T=ALL), SAME, "The absolute value.", "abs(x)",
        ulps=0.5, method=True, tl="abs", libdevice="abs", T="abs"),
    Row("add", "x, y", _arithmetic("+"), Takes(), SAME, "x + y.", "x + y", ulps=0.5, options=_OVERFLOW, tl="add"),
    Row("sub", "x, y", _arithmetic("-"), Takes(), SAME, "x - y.", "x - y", ulps=0.5, options=_OVERFLOW, tl="sub"),
    Row("mul", "x, y", _arithmetic("*"), Takes(), SAME, "x * y.", "x * y", ulps=0.5, options=_OVERFLOW, tl="mul"),
    Row("fma", "x, y, z", "math fma", Takes(tl=NUMBERS, libdevice=NUMBERS), FLOAT, "x * y + z with one rounding.", "x * y + z",
        ulps=0.5, tl="fma", libdevice="fma"),
    Row("fdiv", "x, y", _quotient, ONLY_FLOATS, QUOTIENT, "x / y of floats; of float32 correctly rounded only if asked.", "x / y",
        options={"ieee_rounding": False}, tl="fdiv", libdevice="fdiv"),
    Row("div_rn", "x, y", "binary div_rn", ONLY_FLOATS, QUOTIENT, "x / y of floats, correctly rounded.", "x / y",
        ulps=0.5, tl="div_rn", libdevice="div_rn"),
    Row("fast_dividef", "x, y", _quotient, ANY, QUOTIENT, "x / y.", "x / y", libdevice="fast_dividef"),
    Row("fmod", "x, y", "math fmod", FUNCTION, FLOAT, "The remainder of x / y with the sign of x, as a float.", "fmod(x, y)",
        ulps=0.5, libdevice="fmod"),
    Row("fdim", "x, y", _difference, Takes(libdevice=NUMBERS), FLOAT, "x - y where x is greater, else 0.",
        "0 if x <= y else x - y", ulps=0.5, libdevice="fdim"),
    Row("umulhi", "x, y", "binary mulhi", INTEGRAL, SAME, "The upper half of the product.", "(x * y) >> bits", tl="umulhi"),
    Row("minimum", "x, y", _minimum, ANY, SAME, "The smaller one; a NaN loses, or wins with PropagateNan.ALL.", "fmin(x, y)",
        ulps=0.5, options=_NAN, method=True, tl="minimum"),
    Row("maximum", "x, y", _maximum, ANY, SAME, "The greater one; a NaN loses, or wins with PropagateNan.ALL.", "fmax(x, y)",
        ulps=0.5, options=_NAN, method=True, tl="maximum"),
    Row("clamp", "x, min, max", _clamp, ONLY_FLOATS, SAME, "x limited to [min, max].", "fmin(fmax(x, min), max)",
        ulps=0.5, mixed=True, options=_NAN, tl="clamp", T="clamp(x, min_val, max_val)"),

    # Integer division and remainders.
    Row("truncdiv", "a, b", "binary truncdiv", INTEGRAL, SAME, "The quotient without its fraction, as in C.", "truncdiv(a, b)",
        where="b != 0", T="truncdiv"),
    Row("truncmod", "a, b", "binary truncmod", ANY, SAME, "The remainder with the sign of a, as in C.", "truncmod(a, b)",
        ulps=0.5, where="b != 0", T="truncmod fmod"),
    Row("floordiv", "a, b", "binary //", INTEGRAL, NUMBER, "The quotient rounded down, as in Python.", "a // b",
        where="b != 0", T="floordiv"),
    Row("floormod", "a, b", "binary %", INTEGRAL, NUMBER, "The remainder with the sign of b, as in Python.", "a % b",
        where="b != 0", T="floormod"),

    # Bits.
    Row("shift_left", "a, b", "binary <<", Takes(T=INTEGERS), SAME, "The bits of a moved up by b places.", "a << b",
        where="0 <= b < bits", T="shift_left"),
    Row("shift_right", "a, b", "binary >>", Takes(T=INTEGERS), SAME, "The bits of a moved down by b places.", "a >> b",
        where="0 <= b < bits", T="shift_right"),
    Row("bitwise_and", "a, b", "binary &", INTEGRAL, SAME, "The bits that both have.", "a & b", T="bitwise_and"),
    Row("bitwise_or", "a, b", "binary |", INTEGRAL, SAME, "The bits that either has.", "a | b", T="bitwise_or"),
    Row("bitwise_xor", "a, b", "binary ^", INTEGRAL, SAME, "The bits that just one has.", "a ^ b", T="bitwise_xor"),
    Row("bitwise_not", "x", "unary ~", INTEGRAL, SAME, "All bits inverted.", "~x", T="bitwise_not"),
)
# fmt: on
