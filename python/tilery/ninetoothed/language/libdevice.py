"""Elementwise functions by their libdevice names."""

from ...core.tile.value import native, plain, to_tensor, wrap

_UNARY = {
    "acos": "acos",
    "acosh": "acosh",
    "asin": "asin",
    "asinh": "asinh",
    "atan": "atan",
    "atanh": "atanh",
    "cbrt": "cbrt",
    "ceil": "ceil",
    "cos": "cos",
    "cosh": "cosh",
    "erf": "erf",
    "exp": "exp",
    "exp10": "exp10",
    "exp2": "exp2",
    "expm1": "expm1",
    "floor": "floor",
    "isinf": "isinf",
    "isnan": "isnan",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "nearbyint": "round_even",
    "rint": "round_even",
    "round": "round",
    "rsqrt": "rsqrt",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
    "trunc": "trunc",
}


def _unary(name, operation):
    def function(x):
        return wrap(native().math(operation, to_tensor(x)))

    function.__name__ = name
    function.__doc__ = f"{name}(x), elementwise."

    return function


def _binary(name, operation):
    def function(x, y):
        return wrap(native().math(operation, plain(x), plain(y)))

    function.__name__ = name
    function.__doc__ = f"{name}(x, y), elementwise."

    return function


globals().update({name: _unary(name, operation) for name, operation in _UNARY.items()})
atan2, copysign, fmod = (_binary(n, n) for n in ("atan2", "copysign", "fmod"))


def abs(x):
    """Absolute value."""
    return wrap(native().unary("abs", to_tensor(x)))


def fma(x, y, z):
    """x * y + z with one rounding."""
    return wrap(native().math("fma", plain(x), plain(y), plain(z)))


def pow(x, y):
    """x to the power of y."""
    return wrap(native().binary("**", to_tensor(x), plain(y)))
