"""What rows mean, worked out beside Tilery: by mpmath for finite floats, by NumPy in 80 bits for zeros, infinities and NaN, by
Python's integers; rounded by NumPy and ml_dtypes."""

import math
import types

import numpy as np
import pytest

from tilery.core.functions.host import NAMES, evaluator

ml_dtypes, mpmath = pytest.importorskip("ml_dtypes"), pytest.importorskip("mpmath")
mpmath.mp.prec = 200
NUMPY = {
    "bool": np.dtype(bool),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}


def numpy_type(dtype):
    return NUMPY.get(dtype) or np.dtype(dtype)


def is_float(dtype):
    return "float" in dtype


def bits(dtype):
    return 1 if dtype == "bool" else numpy_type(dtype).itemsize * 8


def _root(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _away(x):
    return mpmath.sign(x) * mpmath.floor(abs(x) + mpmath.mpf(1) / 2)


def _toward_zero(x):
    return mpmath.sign(x) * mpmath.floor(abs(x))


@mpmath.workprec(2400)  # every digit of a quotient of float64s
def _remainder(a, b):
    return a - b * _toward_zero(a / b)


EXACT = {
    "abs": abs,
    "atan2": mpmath.atan2,
    "cbrt": _root,
    "copysign": lambda x, y: abs(x) if y > 0 else -abs(x),
    "fmax": max,
    "fmin": min,
    "fmod": _remainder,
    "isfinite": lambda x: True,
    "isinf": lambda x: False,
    "isnan": lambda x: False,
    "log2": lambda x: mpmath.log(x, 2),
    "rint": mpmath.nint,
    "round_away": _away,
    "trunc": _toward_zero,
    "truncmod": _remainder,
}
WIDE = {
    "abs": abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "besselj": lambda n, x: np.longdouble(n == 0),  # at 0
    "bessely": lambda n, x: -np.inf,
    "erf": lambda x: np.longdouble(math.erf(x)),
    "cospi": lambda x: np.longdouble(x == 0),
    "erfc": lambda x: np.longdouble(math.erfc(x)),
    "erfinv": lambda x: x * np.inf if x else x,
    "gamma": lambda x: np.longdouble(math.gamma(x)),
    "round_away": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "sinpi": lambda x: np.copysign(np.longdouble(0), x),
    "truncmod": np.fmod,
}


def _low(x, count):
    return x & ((1 << count) - 1)


BITS = {
    "popcount": lambda x, count: bin(_low(x, count)).count("1"),
    "bit_length": lambda x, count: _low(x, count).bit_length(),
    "lowest_bit": lambda x, count: (_low(x, count) & -_low(x, count)).bit_length(),
    "reversed_bits": lambda x, count: int(f"{_low(x, count):0{count}b}"[::-1], 2),
}


def _function(row, own, library):
    """The row's value with a library's functions."""
    bare = evaluator(row, {})
    names = {name: own.get(name) or getattr(library, name, None) for name in bare.__code__.co_names}
    return types.FunctionType(bare.__code__, {"__builtins__": {}, **names}, argdefs=bare.__defaults__)


class Reference:
    """A row's value on operands of one type."""

    def __init__(self, row):
        self.row = row
        self.exact, self.wide = _function(row, EXACT, mpmath), _function(row, WIDE, np)

    def on_floats(self, *operands):
        """An mpf, or a float where it is a zero, an infinity or NaN; a bool of a question."""
        operands = [float(x) for x in operands]
        if all(map(math.isfinite, operands)) and all(operands):
            try:
                value = self.exact(*map(mpmath.mpf, operands))
                if isinstance(value, (bool, mpmath.mpf)) and (isinstance(value, bool) or mpmath.isfinite(value) and value):
                    return value
            except (TypeError, ValueError, ZeroDivisionError):  # TypeError: no // and % of mpf
                pass
        with np.errstate(all="ignore"):
            value = self.wide(*map(np.longdouble, operands))
        return value if isinstance(value, (bool, np.bool_)) else float(value)

    def on_integers(self, dtype, *operands, of=None):
        """The low bits of the value on Python's integers; `of`: the operands' type, where it is not the result's."""
        names = {**NAMES, **BITS, "bits": bits(of or dtype)}
        value = int(evaluator(self.row, names)(*(int(x) for x in operands)))
        width, signed = bits(dtype), dtype.startswith("int")
        value &= (1 << width) - 1
        return value - (1 << width) if signed and value >> (width - 1) else value


def condition(row, dtype):
    """Of a lane's operands: is the row's value defined?"""
    test = eval(f"lambda {', '.join(row.parameters)}: {row.where}", {"bits": bits(dtype)})
    return lambda *operands: test(*(float(x) if is_float(dtype) else int(x) for x in operands))


def unit(dtype, value):
    """The distance of neighbouring numbers of a float type at a value, as an mpf."""
    info = ml_dtypes.finfo(numpy_type(dtype))
    exponent = max(mpmath.frexp(value)[1] - 1, int(info.minexp)) if value else int(info.minexp)
    return mpmath.ldexp(1, int(exponent - info.nmant))


def rounded(dtype, value):
    """The nearest number of a type, as a float."""
    with np.errstate(all="ignore"):
        if dtype in ("float32", "float64"):
            return float(numpy_type(dtype).type(float(value)))
        return float(np.float64(float(value)).astype(numpy_type(dtype)))


def wrong(dtype, got, want, ulps):
    """Why `got` is not `want` of a float type within `ulps`, or None."""
    got, nearest = float(got), rounded(dtype, want)
    if math.isnan(nearest) or math.isnan(got):
        return None if math.isnan(nearest) and math.isnan(got) else f"{got} for {nearest}"
    if got == nearest and (got or math.copysign(1, got) == math.copysign(1, nearest)):
        return None
    if isinstance(want, float):
        return f"{got} for {want}"
    greatest = float(ml_dtypes.finfo(numpy_type(dtype)).max)
    if math.isinf(got):
        got = math.copysign(greatest, got) + math.copysign(float(unit(dtype, greatest)), got) if greatest < 1e300 else got
    if math.isinf(got):
        return f"{got} for {mpmath.nstr(want, 20)}"
    error = abs(mpmath.mpf(got) - want) / unit(dtype, want)
    return None if error <= ulps else f"{got!r} for {mpmath.nstr(want, 20)}: {mpmath.nstr(error, 4)} ULP, at most {ulps}"
