"""Arithmetic with a stated rounding: to nearest ("rn"), towards zero ("rz"), up ("ru") or down ("rd")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.functions.make import make
from ...core.tile.device import MODES
from ...errors import error
from ..tracing.values import Expr, Val, cast, current_builder, is_number, read
from ..tracing.vectors import lanewise


def _operation(name: str, count: int, operation: str, nearest: Callable[..., Any], meaning: str) -> Callable[..., Any]:
    """operation: the builder's name of it. nearest: the same of any floats, rounded to nearest."""

    def compute(mode: str, operands: Sequence[Any]) -> Any:
        values = [read(operand) for operand in operands]
        kinds = {value.dtype for value in values if isinstance(value, Expr)}
        if len(kinds) > 1 or any("float" not in kind for kind in kinds):
            raise error(TypeError, f"T.{name} takes floats of one type, got {', '.join(sorted(kinds))}")
        kind = str(kinds.pop()) if kinds else "float32"
        values = [cast(value, kind) if is_number(value) else value for value in values]
        if mode == "rn":
            return nearest(*values)
        if kind not in ("float32", "float64"):
            raise error(
                ValueError,
                f"Only rounding mode 'rn' is available for half precision: T.{name} of {kind} is asked for {mode!r}",
                hint='use "rn", or float32',
            )
        return Val(current_builder().function(f"{operation}_{mode}", *values))

    def call(*arguments: Any) -> Any:
        *operands, mode = arguments
        if mode not in MODES:
            raise error(ValueError, f"Invalid rounding mode {mode!r} of T.{name}", hint="known: rn, rz, ru, rd")
        lanes = lanewise(lambda *lane: compute(mode, lane), operands)
        return compute(mode, operands) if lanes is None else lanes

    return make(call, name, (*"xyz"[:count], "rounding_mode"), ("rn",), __name__, meaning)


def _quotient(x: Any, y: Any) -> Val:
    return Val(current_builder().binary("div_rn", x, y))


def _fma(x: Any, y: Any, z: Any) -> Val:
    return Val(current_builder().math("fma", x, y, z))


def _root(x: Any) -> Val:
    return Val(current_builder().math("sqrt", x))


ieee_add = _operation("ieee_add", 2, "add", lambda x, y: x + y, "x + y, rounded as asked.")
ieee_sub = _operation("ieee_sub", 2, "sub", lambda x, y: x - y, "x - y, rounded as asked.")
ieee_mul = _operation("ieee_mul", 2, "mul", lambda x, y: x * y, "x * y, rounded as asked.")
ieee_fmaf = _operation("ieee_fmaf", 3, "fma", _fma, "x * y + z with one rounding, as asked.")
ieee_fdiv = _operation("ieee_fdiv", 2, "div", _quotient, "x / y, rounded as asked.")
ieee_frcp = _operation("ieee_frcp", 1, "rcp", lambda x: _quotient(cast(1.0, x.dtype), x), "1 / x, rounded as asked.")
ieee_fsqrt = _operation("ieee_fsqrt", 1, "sqrt", _root, "The square root, rounded as asked.")


def ieee_frsqrt(x: Any) -> Any:
    """1 / sqrt(x) rounded to nearest, of float32 and narrower."""
    value = read(x)
    if isinstance(value, Expr) and value.dtype == "float64":
        raise error(ValueError, "frsqrt is not supported for float64", hint="use 1.0 / T.sqrt(x)")
    kind = value.dtype if isinstance(value, Expr) else "float32"
    wide = cast(value, "float64")
    return cast(_quotient(cast(1.0, "float64"), _root(wide)), kind)


def fast_rcp(x: Any) -> Any:
    """1 / x as the machine approximates it, of float32."""
    value = read(x)
    if isinstance(value, Expr) and value.dtype != "float32":
        raise error(TypeError, f"T.fast_rcp takes float32, not {value.dtype}", hint='convert it: T.cast(x, "float32")')
    native = current_builder()
    before = native.fast_math(True)
    try:
        return Val(native.binary("/", cast(1.0, "float32"), cast(value, "float32")))
    finally:
        native.fast_math(before)
