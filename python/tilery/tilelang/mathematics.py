"""Scalar functions: Python's own on numbers, the builder's on run-time values."""

import builtins
import math

from ..errors import error
from . import dtypes
from .context import current
from .values import Expr, Val, binary, cast, current_builder, is_number, is_size


def _function(name, op, host):
    def function(x, *_, **__):
        if is_number(x):
            return host(x)
        return Val(current_builder().math(op, _float(x)))

    function.__name__ = function.__qualname__ = name  # the disk cache tells functions of this package apart by name
    function.__doc__ = f"{name} of x."
    return function


def _float(x):
    kind = x.dtype if isinstance(x, Expr) else "float32"
    return x if dtypes.is_float(kind) else cast(x, "float32")


_HOST = {
    "exp2": lambda x: 2.0**x,
    "exp10": lambda x: 10.0**x,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "round": builtins.round,
    "nearbyint": builtins.round,
    "cbrt": lambda x: math.copysign(builtins.abs(x) ** (1 / 3), x),
}
_OPS = {"round": "round_even", "nearbyint": "round_even"}
for _name in (
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
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
    "sqrt",
    "rsqrt",
    "erf",
    "floor",
    "ceil",
    "round",
    "nearbyint",
    "trunc",
    "isnan",
    "isinf",
    "isfinite",
):
    globals()[_name] = _function(_name, _OPS.get(_name, _name), _HOST.get(_name) or getattr(math, _name))
# The fast forms are the exact ones here.
fast = {f"__{_name}": globals()[_name] for _name in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan")}


def abs(x):
    return builtins.abs(x)


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + globals()["exp"](-x))


def pow(x, y):
    """x to the power of y, as a float."""
    if is_number(x) and is_number(y):
        return x**y
    return binary("**", _float(x) if isinstance(x, Expr) else x, y)


def fmod(x, y):
    """Remainder with the sign of x."""
    return math.fmod(x, y) if is_number(x) and is_number(y) else binary("truncmod", x, y)


def truncdiv(a, b):
    return int(a / b) if is_number(a) and is_number(b) else Val(current_builder().binary("truncdiv", a, b))


def truncmod(a, b):
    return math.fmod(a, b) if is_number(a) and is_number(b) else Val(current_builder().binary("truncmod", a, b))


def floordiv(a, b):
    return a // b


def floormod(a, b):
    return a % b


def ceildiv(a, b):
    """a / b rounded up."""
    if isinstance(a, float) or isinstance(b, float):
        raise error(TypeError, f"T.ceildiv takes integers, got {a!r} and {b!r}")
    return (a + b - 1) // b


def align_up(value, alignment):
    """The smallest multiple of alignment that is at least value."""
    return ceildiv(value, alignment) * alignment


def min(*values):
    return _extreme("min", values)


def max(*values):
    return _extreme("max", values)


def _extreme(op, values):
    result = values[0]
    for value in values[1:]:
        result = binary(op, result, value)
    return result


def clamp(x, low, high):
    """x limited to [low, high]."""
    return min(max(x, low), high)


def if_then_else(condition, x, y, *_):
    """x where condition is true, else y."""
    if not isinstance(condition, Expr):
        return x if condition else y
    if is_size(condition) and is_size(x) and is_size(y) and not (current() and current().in_kernel):
        raise error(NotImplementedError, "a condition on sizes outside `with T.Kernel(...)`", hint="move it into the kernel")
    return Val(current_builder().select(condition, x, y))


def Select(condition, true_value, false_value):
    return if_then_else(condition, true_value, false_value)


def infinity(dtype="float32"):
    """Positive infinity of a type."""
    return cast(math.inf, dtype)


_LIMITS = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
}


def max_value(dtype):
    """The largest finite value of a type."""
    dtype = dtypes.dtype(dtype)
    if dtypes.is_float(dtype):
        return _LIMITS[str(dtype)]
    return 1 if dtype == "bool" else (1 << dtype.bits) - 1 if dtype.startswith("u") else (1 << (dtype.bits - 1)) - 1


def min_value(dtype):
    """The smallest finite value of a type."""
    dtype = dtypes.dtype(dtype)
    if dtypes.is_float(dtype):
        return -_LIMITS[str(dtype)]
    return 0 if dtype == "bool" or dtype.startswith("u") else -(1 << (dtype.bits - 1))


def reinterpret(value, dtype):
    """The bits of value as another type."""
    if isinstance(value, str):  # upstream's old order of arguments
        value, dtype = dtype, value
    return Val(current_builder().bitcast(value, dtypes.dtype(dtype)))


def Cast(dtype, value):
    return cast(value, dtype)


def shift_left(a, b):
    return binary("<<", a, b)


def shift_right(a, b):
    return binary(">>", a, b)


def bitwise_and(a, b):
    return binary("&", a, b)


def bitwise_or(a, b):
    return binary("|", a, b)


def bitwise_xor(a, b):
    return binary("^", a, b)


def bitwise_not(x):
    return ~x


def logical_and(*values):
    return _extreme("and", values)


def logical_or(*values):
    return _extreme("or", values)


def logical_not(x):
    trace = current()
    return trace.logical_not(x) if isinstance(x, Expr) else not x


And, Or, Not = logical_and, logical_or, logical_not
