"""Functions of numbers and conditions that are written out; the elementwise ones are rows of the table of functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....core.ignored import ignore
from ....errors import error
from ...tracing import dtypes
from ...tracing.context import current
from ...tracing.values import Expr, Val, binary, current_builder, select
from ...tracing.values import cast as cast


def ceildiv(a: Any, b: Any) -> Any:
    """a / b rounded up."""
    if isinstance(a, float) or isinstance(b, float):
        raise error(TypeError, f"T.ceildiv takes integers, got {a!r} and {b!r}")
    return (a + b - 1) // b


def align_up(value: Any, alignment: Any) -> Any:
    """The smallest multiple of alignment that is at least value."""
    return ceildiv(value, alignment) * alignment


def _fold(op: str, values: Sequence[Any]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = binary(op, result, value)
    return result


def min(a: Any, b: Any, *more: Any) -> Any:
    """The smallest of some numbers."""
    return _fold("min", (a, b, *more))


def max(a: Any, b: Any, *more: Any) -> Any:
    """The greatest of some numbers."""
    return _fold("max", (a, b, *more))


def _check_apart(what: str, *sides: Any) -> None:
    trace = current()
    if trace is not None:
        trace.check_apart(what, *sides)


def if_then_else(cond: Any, t: Any, f: Any, span: Any = None, dtype: str | None = None) -> Any:
    """t where the condition is true, else f; converted to dtype if one is given."""
    ignore("T.if_then_else", span=span)
    if t is not f:  # else the condition was known, and one side asked
        _check_apart("T.if_then_else", t, f)
    result = select(cond, t, f)
    return result if dtype is None else cast(result, dtype)


if_then_else._is_lazy = True  # type: ignore[attr-defined]


def Select(condition: Any, true_value: Any, false_value: Any, span: Any = None) -> Any:
    """true_value where the condition is true, else false_value."""
    ignore("T.Select", span=span)
    return select(condition, true_value, false_value)


def infinity(dtype: str = "float32", span: Any = None) -> Any:
    """Positive infinity of a type; outside of kernels Python's."""
    ignore("T.infinity", span=span)
    return cast(math.inf, dtype)


_LIMITS = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
    "float8_e4m3fn": 448.0,
    "tfloat32": 3.4011621342146535e38,
    "float8_e3m4": 15.5,
    "float8_e4m3b11fnuz": 30.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
    "float8_e8m0fnu": 2.0**127,
    "float6_e2m3fn": 7.5,
    "float6_e3m2fn": 28.0,
    "float4_e2m1fn": 6.0,
    "float4_e2m1_unpacked": 6.0,
}
_LEAST = {"float8_e8m0fnu": 2.0**-127}  # powers of two have no sign


def max_value(dtype: str, span: Any = None) -> int | float:
    """The largest finite value of a type."""
    ignore("T.max_value", span=span)
    dtype = dtypes.dtype(dtype)
    if dtypes.is_float(dtype):
        return _LIMITS[dtype]
    return 1 if dtype == "bool" else (1 << dtype.bits) - 1 if dtype.startswith("u") else (1 << (dtype.bits - 1)) - 1


def min_value(dtype: str, span: Any = None) -> int | float:
    """The smallest finite value of a type."""
    ignore("T.min_value", span=span)
    dtype = dtypes.dtype(dtype)
    if dtypes.is_float(dtype):
        return _LEAST.get(dtype, -_LIMITS[dtype])
    return 0 if dtype == "bool" or dtype.startswith("u") else -(1 << (dtype.bits - 1))


def reinterpret(value: Any, dtype: Any, span: Any = None) -> Val | None:
    """The bits of value as another type."""
    ignore("T.reinterpret", span=span)
    if isinstance(value, str):  # upstream's old order of arguments
        value, dtype = dtype, value
    if dtype == "handle":
        return None  # names no value here: upstream's reductions take such a one
    return Val(current_builder().bitcast(value, dtypes.dtype(dtype)))


def Cast(dtype: str, value: Any, span: Any = None) -> Any:
    """The value converted to a type."""
    ignore("T.Cast", span=span)
    return cast(value, dtype)


def logical_and(a: Any, b: Any, *more: Any) -> Any:
    """Are all conditions true?"""
    _check_apart("T.logical_and", b, *more)
    return _fold("and", (a, b, *more))


def logical_or(a: Any, b: Any, *more: Any) -> Any:
    """Is any condition true?"""
    _check_apart("T.logical_or", b, *more)
    return _fold("or", (a, b, *more))


def logical_not(x: Any) -> Any:
    """Is the condition false?"""
    trace = current()
    return trace.logical_not(x) if isinstance(x, Expr) else not x
