"""Elementwise functions."""

import enum

from ...errors import error
from .types import unwrap
from .value import member, native, plain, tensor, to_tensor, wrap


class PropagateNan(enum.Enum):
    NONE = 0
    ALL = 0xFFFF


def _floats(x, name, narrow=False):
    """exp and its kin take fp32 and fp64, as upstream."""
    x = to_tensor(x)
    if x.handle.is_pointer or x.dtype.name not in ("fp32", "fp64") and not (narrow and x.dtype.is_standard_floating()):
        raise error(ValueError, f"{name} takes fp32 or fp64, got {x.dtype}", hint="convert first: x.to(tl.float32)")
    return x


def _unary(name, narrow=False):
    def function(x):
        return wrap(native().math(name, _floats(x, name, narrow)))

    function.__name__ = name
    function.__doc__ = f"{name}(x), elementwise."
    return member(function)


exp, exp2, log, log2, cos, sin = (_unary(n) for n in ("exp", "exp2", "log", "log2", "cos", "sin"))
sqrt, rsqrt, erf, floor, ceil = (_unary(n) for n in ("sqrt", "rsqrt", "erf", "floor", "ceil"))


@member
def sqrt_rn(x):
    """Square root, correctly rounded."""
    return sqrt(x)


@member
def abs(x):
    """Absolute value; of ints too."""
    return wrap(native().unary("abs", to_tensor(x)))


def fdiv(x, y, ieee_rounding=False):
    """Division of floats; of f32 within 2 units in the last place, or correctly rounded."""
    x, y = to_tensor(x), to_tensor(y)
    if not x.dtype.is_floating() or not y.dtype.is_floating():
        raise error(ValueError, f"fdiv takes floats, got {x.dtype} and {y.dtype}")
    return wrap(native().binary("div_rn" if unwrap(ieee_rounding) else "/", x, y))


def div_rn(x, y):
    """Division, correctly rounded."""
    return fdiv(x, y, ieee_rounding=True)


def fma(x, y, z):
    """x * y + z with one rounding."""
    return wrap(native().math("fma", *(plain(v) for v in (x, y, z))))


def umulhi(x, y):
    """Upper half of the product of 32- or 64-bit ints."""
    return wrap(native().binary("mulhi", plain(x), plain(y)))


def _extremum(name, x, y, propagate_nan):
    x, y = plain(x), plain(y)
    nan = "_nan" if unwrap(propagate_nan) is PropagateNan.ALL else ""
    if not isinstance(x, tensor) and not isinstance(y, tensor):
        x = to_tensor(x)
    return wrap(native().binary(name + nan, x, y))


@member
def minimum(x, y, propagate_nan=PropagateNan.NONE):
    """Elementwise minimum; a NaN loses, or wins with PropagateNan.ALL."""
    return _extremum("min", x, y, propagate_nan)


@member
def maximum(x, y, propagate_nan=PropagateNan.NONE):
    """Elementwise maximum; a NaN loses, or wins with PropagateNan.ALL."""
    return _extremum("max", x, y, propagate_nan)


def clamp(x, min, max, propagate_nan=PropagateNan.NONE):
    """x limited to [min, max]."""
    x = to_tensor(x)
    if not x.dtype.is_floating():
        raise error(ValueError, f"clamp takes floats, got {x.dtype}")
    return _extremum("min", _extremum("max", x, min, propagate_nan), max, propagate_nan)


@member
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + exp(-x))


@member
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x - max) over its sum, along a dimension (0 by default)."""
    from . import reduction

    axis = 0 if unwrap(dim) is None else dim
    shifted = x - reduction.max(x, axis, keep_dims=True)
    numerator = exp(shifted)
    return fdiv(numerator, reduction.sum(numerator, axis, keep_dims=True), ieee_rounding)


def add(x, y, sanitize_overflow=True):
    return to_tensor(x) + y


def sub(x, y, sanitize_overflow=True):
    return to_tensor(x) - y


def mul(x, y, sanitize_overflow=True):
    return to_tensor(x) * y


@member
def cdiv(x, div):
    """x / div rounded up; of host ints too."""
    x, div = unwrap(x), unwrap(div)
    return (x + (div - 1)) // div


def swizzle2d(i, j, size_i, size_j, size_g):
    """Row-major (i, j) renumbered in groups of size_g rows, column-major within a group."""
    ij = i * size_j + j
    group_size = size_g * size_j
    offset = ij // group_size * size_g
    rows = minimum(size_i - offset, size_g)
    ij = ij % group_size
    return offset + ij % rows, ij // rows


__all__ = [
    "PropagateNan",
    "abs",
    "add",
    "cdiv",
    "ceil",
    "clamp",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "fdiv",
    "floor",
    "fma",
    "log",
    "log2",
    "maximum",
    "minimum",
    "mul",
    "rsqrt",
    "sigmoid",
    "sin",
    "softmax",
    "sqrt",
    "sqrt_rn",
    "sub",
    "swizzle2d",
    "umulhi",
]
