"""Arithmetic with a stated rounding: to nearest ("rn"), towards zero ("rz"), up ("ru") or down ("rd").

A result rounded to nearest comes with the exact sign of what was rounded away, from which the other three follow: a step to the
neighbouring float where that lies on the wrong side. float32 is computed in float64, which holds products of float32 exactly;
float64 by compensated sums and by fused multiply-adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype
from ..tracing.values import Expr, Val, binary, cast, current_builder, is_number, read, select, unary
from ..tracing.vectors import lanewise

MODES = ("rn", "rz", "ru", "rd")
_BITS = {"float32": "int32", "float64": "int64"}
_LARGEST = {"float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}


def _fma(x: Any, y: Any, z: Any) -> Val:
    return Val(current_builder().math("fma", x, y, z))


def _both(a: Any, b: Any) -> Any:
    return binary("and", a, b)


def _add(x: Any, y: Any) -> tuple[Any, Any]:
    """(rounded sum, what was rounded away)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _mul(x: Any, y: Any) -> tuple[Any, Any]:
    product = x * y
    return product, _fma(x, y, unary("-", product))


def _div(x: Any, y: Any) -> tuple[Any, Any]:
    quotient = Val(current_builder().binary("div_rn", x, y))
    rest = _fma(unary("-", quotient), y, x)
    return quotient, select(y < 0, unary("-", rest), rest)


def _sqrt(x: Any) -> tuple[Any, Any]:
    root = Val(current_builder().math("sqrt", x))
    return root, _fma(unary("-", root), root, x)


def _sum_of_three(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """x * y + z where x * y is exact."""
    return _add(x * y, z)


def _fused(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """x * y + z of float64, rounded once. Product and sum are split into what is rounded and the rest: of the three numbers
    that the exact result is then, less the rounded one, the first that is not 0 has the sign of what was rounded away."""
    rounded = _fma(x, y, z)
    product = _fma(x, y, 0.0)  # not x * y, which a GPU may fuse with the sum below
    below_product = _fma(x, y, unary("-", product))
    total, below_total = _add(product, z)
    middle, low = _add(below_total, below_product)
    first, second = _add(total - rounded, middle)
    return rounded, select(binary("==", first, 0.0), second + low, first)


def _stepped(value: Any, up: Any, kind: str) -> Any:
    """The next float above (or below) `value`."""
    bits = _BITS[kind]
    raw = Val(current_builder().bitcast(value, bits))
    away = select(value > 0, up, binary("==", up, False))  # from zero
    moved = raw + select(away, cast(1, bits), cast(-1, bits))
    tiny = select(up, cast(1, bits), cast(-(1 << (dtype(bits).bits - 1)) + 1, bits))
    return Val(current_builder().bitcast(select(binary("==", value, 0.0), tiny, moved), kind))


def _directed(rounded: Any, rest: Any, mode: str, kind: str, finite: Any) -> Any:
    """`rounded` (to nearest) moved to the side that the mode asks for; rest: exact - rounded, by sign."""
    above, below = rest > 0, rest < 0  # where the exact result lies
    largest = _LARGEST[kind]
    over = _both(finite, binary("==", unary("abs", rounded), float("inf")))
    positive = rounded > 0
    if mode == "ru":
        step, up, limit = above, True, binary("==", positive, False)
    elif mode == "rd":
        step, up, limit = below, False, positive
    else:
        step = binary("or", _both(positive, below), _both(rounded < 0, above))
        up, limit = rounded < 0, None
    ups = Val(current_builder().constant(up, "bool")) if isinstance(up, bool) else up
    result = select(step, _stepped(rounded, ups, kind), rounded)
    bound = select(positive, cast(largest, kind), cast(-largest, kind))
    return select(over if limit is None else _both(over, limit), bound, result)


def _finite(*operands: Any) -> Any:
    result = None
    for operand in operands:
        one = unary("abs", operand) < float("inf")
        result = one if result is None else _both(result, one)
    return result


def _operation(
    name: str, count: int, exactly: Callable[..., tuple[Any, Any]], nearest: Callable[..., Any], meaning: str
) -> Callable[..., Any]:
    def compute(mode: str, operands: tuple[Any, ...]) -> Any:
        values = [read(operand) for operand in operands]
        kinds = {value.dtype for value in values if isinstance(value, Expr)}
        if len(kinds) > 1 or any("float" not in kind for kind in kinds):
            raise error(TypeError, f"T.{name} takes floats of one type, got {', '.join(sorted(kinds))}")
        kind = str(kinds.pop()) if kinds else "float32"
        values = [cast(value, kind) if is_number(value) else value for value in values]
        if mode == "rn":
            return nearest(*values)
        if kind not in _BITS:
            raise error(
                ValueError,
                f"Only rounding mode 'rn' is available for half precision: T.{name} of {kind} is asked for {mode!r}",
                hint='use "rn", or float32',
            )
        if kind == "float64":
            rounded, rest = (_fused if name == "ieee_fmaf" else exactly)(*values)
            return _directed(rounded, rest, mode, kind, _finite(*values))
        wide, rest = (_sum_of_three if name == "ieee_fmaf" else exactly)(*[cast(value, "float64") for value in values])
        rounded = cast(wide, "float32")
        between = wide - cast(rounded, "float64")
        rest = select(binary("==", between, 0.0), rest, between)
        return _directed(rounded, rest, mode, kind, _finite(*values))

    def function(*arguments: Any) -> Any:
        mode = "rn"
        if len(arguments) == count + 1:
            *arguments, mode = arguments  # type: ignore[assignment]
        if len(arguments) != count:
            raise error(TypeError, f"T.{name} takes {count} numbers and a rounding, got {len(arguments)} arguments")
        if mode not in MODES:
            raise error(ValueError, f"Invalid rounding mode {mode!r} of T.{name}", hint="known: " + ", ".join(MODES))
        lanes = lanewise(lambda *lane: compute(mode, lane), arguments)
        return compute(mode, tuple(arguments)) if lanes is None else lanes

    def one(x: Any, rounding_mode: str = "rn") -> Any:
        return function(x, rounding_mode)

    def two(x: Any, y: Any, rounding_mode: str = "rn") -> Any:
        return function(x, y, rounding_mode)

    def three(x: Any, y: Any, z: Any, rounding_mode: str = "rn") -> Any:
        return function(x, y, z, rounding_mode)

    made = (one, two, three)[count - 1]
    made.__name__ = made.__qualname__ = name
    made.__doc__ = meaning
    return made


def _reciprocal(x: Any) -> tuple[Any, Any]:
    return _div(cast(1.0, x.dtype), x)


def _quotient(x: Any, y: Any) -> Val:
    return Val(current_builder().binary("div_rn", x, y))


ieee_add = _operation("ieee_add", 2, _add, lambda x, y: x + y, "x + y, rounded as asked.")
ieee_sub = _operation("ieee_sub", 2, lambda x, y: _add(x, unary("-", y)), lambda x, y: x - y, "x - y, rounded as asked.")
ieee_mul = _operation("ieee_mul", 2, _mul, lambda x, y: x * y, "x * y, rounded as asked.")
ieee_fmaf = _operation("ieee_fmaf", 3, _sum_of_three, _fma, "x * y + z with one rounding, as asked.")
ieee_fdiv = _operation("ieee_fdiv", 2, _div, _quotient, "x / y, rounded as asked.")
ieee_frcp = _operation("ieee_frcp", 1, _reciprocal, lambda x: _quotient(cast(1.0, x.dtype), x), "1 / x, rounded as asked.")
ieee_fsqrt = _operation(
    "ieee_fsqrt", 1, _sqrt, lambda x: Val(current_builder().math("sqrt", x)), "The square root, rounded as asked."
)


def ieee_frsqrt(x: Any) -> Any:
    """1 / sqrt(x) rounded to nearest, of float32 and narrower."""
    value = read(x)
    if isinstance(value, Expr) and value.dtype == "float64":
        raise error(ValueError, "frsqrt is not supported for float64", hint="use 1.0 / T.sqrt(x)")
    kind = value.dtype if isinstance(value, Expr) else "float32"
    wide = cast(value, "float64")
    return cast(_quotient(cast(1.0, "float64"), Val(current_builder().math("sqrt", wide))), kind)


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
