"""CUDA's libdevice: arithmetic and conversions with a stated rounding, bits of floats, and functions of operands of two types."""

from __future__ import annotations

import functools
from typing import Any

from ..functions.device import alike
from ..functions.row import Result, Row, Takes

MODES = {"rn": "to nearest", "rz": "toward zero", "rd": "down", "ru": "up"}
_INTEGERS = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
_FLOATS = {"float": "float32", "double": "float64"}
_MEANINGS = {
    "add": ("x, y", "x + y"),
    "sub": ("x, y", "x - y"),
    "mul": ("x, y", "x * y"),
    "div": ("x, y", "x / y"),
    "rcp": ("x", "1 / x"),
    "sqrt": ("x", "sqrt(x)"),
    "fma": ("x, y, z", "x * y + z"),
}


def _types(source: tuple[str, ...], target: str | None) -> Result:
    return Result(target or "that of the operands", dict.fromkeys(source, target) if target else {})


def _row(name: str, operands: str, takes: str, result: str | None, meaning: str, value: str, operation: Any = None) -> Row:
    """operation: the builder's function of that name, if nothing is said."""
    operation = operation or (alike(name) if "," in operands else f"function {name}")
    types = tuple(takes.split())
    exact = {"ulps": 0.5}
    return Row(name, operands, operation, Takes(libdevice=types), _types(types, result), meaning, value, libdevice=name, **exact)


def _arithmetic() -> list[Row]:
    return [
        _row(f"{name}_{mode}", operands, "float32 float64", None, f"Rounded {words}.", value)
        for mode, words in MODES.items()
        for name, (operands, value) in _MEANINGS.items()
        if f"{name}_{mode}" not in ("div_rn", "sqrt_rn")  # those tl has, too
    ]


def _conversions() -> list[Row]:
    rows = []
    for mode, words in MODES.items():
        for float_word, kind in _FLOATS.items():
            for word, integer in _INTEGERS.items():
                meaning = f"Rounded {words}; beyond the range the nearest one."
                rows.append(_row(f"{float_word}2{word}_{mode}", "x", kind, integer, meaning, f"{integer}(x)"))
                if float_word == "float" or word in ("ll", "ull") or mode == "rn":
                    rows.append(_row(f"{word}2{float_word}_{mode}", "x", integer, kind, f"Rounded {words}.", f"{kind}(x)"))
        rows.append(_row(f"double2float_{mode}", "x", "float64", "float32", f"Rounded {words}.", "float32(x)"))
    for name, source, kind in (
        ("int_as_float", "int32", "float32"),
        ("float_as_int", "float32", "int32"),
        ("uint_as_float", "uint32", "float32"),
        ("float_as_uint", "float32", "uint32"),
        ("longlong_as_double", "int64", "float64"),
        ("double_as_longlong", "float64", "int64"),
    ):
        operation = functools.partial(lambda kind, f, x: f.bitcast(x, kind), kind)
        rows.append(_row(name, "x", source, kind, f"The bits of x as {kind}.", f"{kind} of x's bits", operation))
    return rows


def _ldexp(f: Any, x: Any, n: Any) -> Any:
    return f.function("ldexp", x, f.cast(n, "int32"))


_MIXED = "float32 float64 int32 int64"
ROWS = (
    *_arithmetic(),
    *_conversions(),
    _row("nextafter", "x, y", "float32 float64", None, "The neighbour of x towards y.", "nextafter(x, y)"),
    _row("ldexp", "x, n", _MIXED, None, "x times a power of two, rounded once.", "x * 2**n", _ldexp),
    _row("scalbn", "x, n", _MIXED, None, "x times a power of two, rounded once.", "x * 2**n", _ldexp),
    _row("hiloint2double", "x, y", "int32", "float64", "The number with these halves.", "float64 of x and y"),
    _row("double2loint", "x", "float64", "int32", "The lower half of the bits.", "lower half of x"),
    _row("double2hiint", "x", "float64", "int32", "The upper half of the bits.", "upper half of x"),
    _row("rcp64h", "x", "float64", None, "1 / x, of which the upper half counts.", "1 / x"),
    _row("byte_perm", "x, y, s", "int32 uint32", "int32", "Four bytes of y and x, as the nibbles of s name them.",
         "four bytes of y and x"),
)  # fmt: skip
