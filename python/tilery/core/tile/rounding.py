"""Arithmetic of float32 and float64 rounded to nearest (rn), toward zero (rz), down (rd) or up (ru): the nearest result, and the
sign of what it leaves out."""

from collections.abc import Callable
from typing import Any

MODES = {"rn": "to nearest", "rz": "toward zero", "rd": "down", "ru": "up"}
_INTEGER = {"float32": "int32", "float64": "int64"}


def step(f: Any, x: Any, up: bool) -> Any:
    """The neighbour of x above it, or below; NaN stays NaN and the last infinity what it is."""
    integer = _INTEGER[f.dtype(x)]
    bits = f.bitcast(x, integer)
    away = f.binary(">=" if up else "<", bits, 0)  # from zero, whose neighbours are the smallest numbers of each sign
    moved = f.select(away, f.binary("+", bits, 1), f.binary("-", bits, 1))
    smallest = f.binary("*", f.bitcast(x, integer), 0)  # a tile like x of the bits of the smallest number of the direction's sign
    sign = 0 if up else 1 << (63 if integer == "int64" else 31)
    least = f.bitcast(f.binary("|", smallest, 1 - sign if not up else 1), f.dtype(x))
    moved = f.select(f.binary("==", x, 0.0), least, f.bitcast(moved, f.dtype(x)))
    last = f.binary("==", x, float("inf") if up else float("-inf"))
    return f.select(f.binary("or", f.math("isnan", x), last), x, moved)


def adjusted(f: Any, nearest: Any, rest: Any, mode: str, finite: Any = None) -> Any:
    """`nearest`, rounded as `mode` says, where `rest` has the sign of the exact result less it. `finite`: are the operands?"""
    if mode == "rn":
        return nearest
    more, less = f.binary(">", rest, 0.0), f.binary("<", rest, 0.0)
    if finite is not None:  # a finite result beyond the greatest number
        more = f.binary("or", more, f.binary("and", f.binary("==", nearest, float("-inf")), finite))
        less = f.binary("or", less, f.binary("and", f.binary("==", nearest, float("inf")), finite))
    if mode == "rz":
        more = f.binary("and", more, f.binary("<", nearest, 0.0))
        less = f.binary("and", less, f.binary(">", nearest, 0.0))
    result = nearest
    if mode != "rd":
        result = f.select(more, step(f, nearest, True), result)
    if mode != "ru":
        result = f.select(less, step(f, nearest, False), result)
    return result


def narrowed(f: Any, x: Any, rest: Any, mode: str, finite: Any = None) -> Any:
    """float64 as float32; `rest` has the sign of the exact value less x."""
    nearest = f.cast(x, "float32")
    left = f.binary("-", x, f.cast(nearest, "float64"))
    left = f.select(f.math("isfinite", left), left, 0.0)
    sign = f.select(f.binary("==", left, 0.0), rest, left)
    return adjusted(f, nearest, sign, mode, finite)


def _sum(f: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """(x + y, what that leaves out), exactly."""
    total = f.binary("+", x, y)
    second = f.binary("-", total, x)
    first = f.binary("-", total, second)
    return total, f.binary("+", f.binary("-", x, first), f.binary("-", y, second))


def _product(f: Any, x: Any, y: Any) -> tuple[Any, Any]:
    total = f.binary("*", x, y)
    return total, f.math("fma", x, y, f.unary("-", total))


def _quotient(f: Any, x: Any, y: Any) -> tuple[Any, Any]:
    total = f.binary("div_rn", x, y)
    left = f.math("fma", f.unary("-", total), y, x)
    return total, f.select(f.binary("<", y, 0.0), f.unary("-", left), left)


def _root(f: Any, x: Any) -> tuple[Any, Any]:
    total = f.math("sqrt", x)
    return total, f.math("fma", f.unary("-", total), total, x)


def _fused(f: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """Product and sum are split into what is rounded and the rest: of the three numbers that the exact result is then, less the
    rounded one, the first that is not 0 has the sign of what is left out."""
    rounded = f.math("fma", x, y, z)
    product = f.math("fma", x, y, 0.0)  # not x * y, which a GPU may fuse with the sum below
    below_product = f.math("fma", x, y, f.unary("-", product))
    total, below_total = _sum(f, product, z)
    middle, low = _sum(f, below_total, below_product)
    first, second = _sum(f, f.binary("-", total, rounded), middle)
    return rounded, f.select(f.binary("==", first, 0.0), f.binary("+", second, low), first)


_EXACT: dict[str, Callable[..., tuple[Any, Any]]] = {
    "add": _sum,
    "sub": lambda f, x, y: _sum(f, x, f.unary("-", y)),
    "mul": _product,
    "div": _quotient,
    "rcp": lambda f, x: _quotient(f, f.cast(1.0, "float64"), x),
    "sqrt": _root,
    "fma": _fused,
}


def rounded(name: str, mode: str) -> Callable[..., Any]:
    """The operation of a row. float32 is computed in float64, which tells on which side of the nearest one the result lies."""

    def operation(f: Any, *operands: Any) -> Any:
        operands = f.alike(*operands)
        if mode == "rn" and name == "fma":
            return f.math("fma", *operands)
        narrow = f.dtype(operands[0]) == "float32"
        wide = [f.cast(x, "float64") for x in operands] if narrow else operands
        if narrow and name == "fma":  # float64 holds the product
            wide = [f.binary("*", *wide[:2]), wide[2]]
        total, rest = _EXACT["add" if narrow and name == "fma" else name](f, *wide)
        finite = f.binary("!=", wide[-1], 0.0) if name in ("div", "rcp") else True  # a quotient by 0 is infinite
        for x in wide:
            finite = f.binary("and", f.math("isfinite", x), finite)
        rest = f.select(f.math("isfinite", rest), rest, 0.0)
        return (narrowed if narrow else adjusted)(f, total, rest, mode, finite)

    return operation
