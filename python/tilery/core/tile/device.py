"""CUDA's libdevice: arithmetic and conversions with a stated rounding, bits of floats, and functions of operands of two types."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..functions.row import Result, Row, Takes
from . import rounding

_INTEGERS = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
_FLOATS = {"float": "float32", "double": "float64"}
_FUNCTIONS = {"rn": "round_even", "rz": "trunc", "rd": "floor", "ru": "ceil"}
_MEANINGS = {
    "add": ("x, y", "x + y"),
    "sub": ("x, y", "x - y"),
    "mul": ("x, y", "x * y"),
    "div": ("x, y", "x / y"),
    "rcp": ("x", "1 / x"),
    "sqrt": ("x", "sqrt(x)"),
    "fma": ("x, y, z", "x * y + z"),
}


def _to_integer(kind: str, mode: str) -> Callable[..., Any]:
    return lambda f, x: f.cast(f.math(_FUNCTIONS[mode], x), kind)


def _to_float(kind: str, mode: str) -> Callable[..., Any]:
    def operation(f: Any, x: Any) -> Any:
        source = f.dtype(x)
        if source == "float64":
            return rounding.narrowed(f, x, f.cast(0.0, "float64"), mode, f.math("isfinite", x))
        nearest = f.cast(x, kind)
        back = f.cast(nearest, source)  # the greatest integer for a float beyond it
        beyond = f.binary(">=", nearest, 2.0 ** (int(source.lstrip("uint")) - (source[0] == "i")))
        above, below = f.binary("or", f.binary(">", back, x), beyond), f.binary("<", back, x)
        one = f.cast(1.0, kind)
        rest = f.select(above, f.unary("-", one), f.select(below, one, 0.0))
        return rounding.adjusted(f, nearest, rest, mode)

    return operation


def _types(source: tuple[str, ...], target: str | None) -> Result:
    return Result(target or "that of the operands", dict.fromkeys(source, target) if target else {})


def _row(name: str, operands: str, takes: str, result: str | None, operation: Any, meaning: str, value: str) -> Row:
    types = tuple(takes.split())
    exact = {"ulps": 0.5}
    return Row(name, operands, operation, Takes(libdevice=types), _types(types, result), meaning, value, libdevice=name, **exact)


def _arithmetic() -> list[Row]:
    rows = []
    for mode, words in rounding.MODES.items():
        for name, (operands, value) in _MEANINGS.items():
            if f"{name}_{mode}" not in ("div_rn", "sqrt_rn"):  # those tl has, too
                operation = rounding.rounded(name, mode)
                rows.append(_row(f"{name}_{mode}", operands, "float32 float64", None, operation, f"Rounded {words}.", value))
    return rows


def _conversions() -> list[Row]:
    rows = []
    for mode, words in rounding.MODES.items():
        for float_word, kind in _FLOATS.items():
            for word, integer in _INTEGERS.items():
                meaning = f"Rounded {words}; beyond the range the nearest one."
                operation = _to_integer(integer, mode)
                rows.append(_row(f"{float_word}2{word}_{mode}", "x", kind, integer, operation, meaning, f"{integer}(x)"))
                if float_word == "float" or word in ("ll", "ull") or mode == "rn":
                    operation = _to_float(kind, mode)
                    name = f"{word}2{float_word}_{mode}"
                    rows.append(_row(name, "x", integer, kind, operation, f"Rounded {words}.", f"{kind}(x)"))
        operation = _to_float("float32", mode)
        rows.append(_row(f"double2float_{mode}", "x", "float64", "float32", operation, f"Rounded {words}.", "float32(x)"))
    for name, source, kind in (
        ("int_as_float", "int32", "float32"),
        ("float_as_int", "float32", "int32"),
        ("uint_as_float", "uint32", "float32"),
        ("float_as_uint", "float32", "uint32"),
        ("longlong_as_double", "int64", "float64"),
        ("double_as_longlong", "float64", "int64"),
    ):
        operation = functools.partial(lambda kind, f, x: f.bitcast(x, kind), kind)
        rows.append(_row(name, "x", source, kind, operation, f"The bits of x as {kind}.", f"{kind} of x's bits"))
    return rows


def _nextafter(f: Any, x: Any, y: Any) -> Any:
    x, y = f.alike(x, y)
    moved = f.select(f.binary("<", x, y), rounding.step(f, x, True), rounding.step(f, x, False))
    return f.select(f.binary("==", x, y), y, f.select(f.math("isnan", y), y, moved))


def _power_of_two(f: Any, n: Any) -> Any:
    """2 to the power of n in [-1022, 1023], as float64."""
    return f.bitcast(f.binary("<<", f.cast(f.binary("+", n, 1023), "int64"), 52), "float64")


def _limited(f: Any, n: Any, least: int, greatest: int) -> Any:
    return f.binary("max", f.binary("min", n, greatest), least)


def _ldexp(f: Any, x: Any, n: Any) -> Any:
    kind = f.dtype(x)
    wide, n = f.cast(x, "float64"), f.cast(n, "int32")
    if kind == "float32":  # float64 has all its exponents, so that one rounding is left
        n = _limited(f, n, -900, 900)
        return f.cast(f.binary("*", wide, _power_of_two(f, n)), kind)
    n = _limited(f, n, -3000, 3000)
    for _ in range(3):  # as long as the result is none of the smallest, the steps are exact
        part = _limited(f, n, -900, 1000)
        scaled = f.binary("*", wide, _power_of_two(f, part))
        safe = f.binary(">", f.unary("abs", scaled), 2.0**-100)
        wide, n = f.select(safe, scaled, wide), f.select(safe, f.binary("-", n, part), n)
    first = _limited(f, n, -50, 1000)
    second = _limited(f, f.binary("-", n, first), -1022, 1000)
    third = _limited(f, f.binary("-", f.binary("-", n, first), second), -1022, 1000)
    wide = f.binary("*", wide, _power_of_two(f, first))
    return f.binary("*", f.binary("*", wide, _power_of_two(f, second)), _power_of_two(f, third))


def _hiloint2double(f: Any, high: Any, low: Any) -> Any:
    high, low = f.alike(high, low)
    lower = f.cast(f.cast(low, "uint32"), "int64")
    return f.bitcast(f.binary("|", f.binary("<<", f.cast(high, "int64"), 32), lower), "float64")


def _upper_of_reciprocal(f: Any, x: Any) -> Any:
    return f.bitcast(f.binary("&", f.bitcast(f.binary("div_rn", 1.0, x), "int64"), -(1 << 32)), "float64")


_MIXED = "float32 float64 int32 int64"
ROWS = (
    *_arithmetic(),
    *_conversions(),
    _row("nextafter", "x, y", "float32 float64", None, _nextafter, "The neighbour of x towards y.", "nextafter(x, y)"),
    _row("ldexp", "x, n", _MIXED, None, _ldexp, "x times a power of two, rounded once.", "x * 2**n"),
    _row("scalbn", "x, n", _MIXED, None, _ldexp, "x times a power of two, rounded once.", "x * 2**n"),
    _row("hiloint2double", "x, y", "int32", "float64", _hiloint2double, "The number with these halves.", "float64 of x and y"),
    _row("double2loint", "x", "float64", "int32", lambda f, x: f.cast(f.bitcast(x, "int64"), "int32"),
         "The lower half of the bits.", "lower half of x"),
    _row("double2hiint", "x", "float64", "int32", lambda f, x: f.cast(f.binary(">>", f.bitcast(x, "int64"), 32), "int32"),
         "The upper half of the bits.", "upper half of x"),
    _row("rcp64h", "x", "float64", None, _upper_of_reciprocal, "1 / x, of which the upper half counts.", "1 / x"),
    _row("byte_perm", "x, y, s", "int32 uint32", "int32",
         lambda f, *operands: f.function("byte_perm", *f.alike(*operands)),
         "Four bytes of y and x, as the nibbles of s name them.", "four bytes of y and x"),
)  # fmt: skip
