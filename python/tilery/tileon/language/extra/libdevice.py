"""Functions of CUDA's libdevice under their names."""

from ....core.tile.math import abs, ceil, div_rn, erf, exp, exp2, fdiv, floor, fma, log, log2, sqrt, sqrt_rn  # noqa: F401
from ....core.tile.types import float32
from ....core.tile.value import native, plain, to_tensor, wrap

_UNARY = (
    "exp10",
    "log10",
    "log1p",
    "expm1",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sin",
    "cos",
    "rsqrt",
    "cbrt",
    "trunc",
    "isnan",
    "isinf",
)
_BINARY = {"atan2": "atan2", "copysign": "copysign", "fmod": "fmod"}


def _function(name, op):
    def function(*args):
        return wrap(native().math(op, *(plain(to_tensor(a)) for a in args)))

    function.__name__ = name
    function.__doc__ = f"{name}, elementwise."
    return function


for _name in _UNARY:
    globals()[_name] = _function(_name, _name)
for _name, _op in _BINARY.items():
    globals()[_name] = _function(_name, _op)
rint = nearbyint = _function("rint", "round_even")
round = _function("round", "round")
isfinited = finitef = _function("isfinite", "isfinite")
fast_expf, fast_logf, fast_sinf, fast_cosf, fast_tanhf = (
    exp,
    log,
    _function("sin", "sin"),
    _function("cos", "cos"),
    _function("tanh", "tanh"),
)
fast_exp2f, fast_log2f = exp2, log2


def pow(x, y):
    """x to the power y."""
    return wrap(native().binary("**", to_tensor(x), plain(y)))


fast_powf = pow


def fast_dividef(x, y):
    """x / y."""
    return to_tensor(x).to(float32) / y
