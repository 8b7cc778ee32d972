"""libdevice's Bessel functions of any order, by the recurrence over orders J_(k+1) = 2k/x J_k - J_(k-1), which Y obeys, too. It
is stable upwards for Y, and for J as long as the order is below x; downwards for J beyond, begun far above and made absolute by
1 = J_0 + 2 J_2 + 2 J_4 + .. All in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import error
from . import libdevice, types
from .creation import cast
from .reduction import max as _largest
from .shape import broadcast, where
from .types import constexpr
from .value import Operand, tensor, to_tensor, tracer

_zeroth, _first = libdevice.j0, libdevice.j1
_zeroth_second, _first_second = libdevice.y0, libdevice.y1
_sqrt = libdevice.sqrt
_f64, _i32 = types.float64, types.int32
_GREAT, _SMALL, _LEAST = constexpr(1e100), constexpr(1e-100), constexpr(1e-80)


def _traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose body is one of the language: with loops that run-time numbers bound."""

    def call(*args: Any) -> Any:
        from .tracer import inline

        return inline(tracer(), function, args, {})  # type: ignore[arg-type]  # a function of this file

    return call


@_traced
def _upwards(size: Any, x: Any, before: Any, here: Any, top: Any) -> Any:
    """The function of order `size` at x, of those of order 0 and 1; `top` is the greatest of all orders."""
    result = where(size == 0, before, here)
    for k in range(1, top):
        after = here * (cast(k, _f64) * 2.0 / x) - before
        after = where(abs(here) == float("inf"), here, after)
        before, here = here, after
        result = where(size == k + 1, here, result)
    return result


@_traced
def _downwards(size: Any, x: Any, top: Any) -> Any:
    """J of order `size` at x > 0, where the order is greater than x."""
    start = (top + cast(_sqrt(cast(top, _f64) * 40.0), _i32) + 24) // 2 * 2
    above, here, result, norm = x * 0.0, x * 0.0 + 1.0, x * 0.0, x * 0.0
    for down in range(0, start):
        k = start - down  # `here` is J_k times what all are too great by
        below = here * (cast(k, _f64) * 2.0 / x) - above
        factor = where(abs(below) > _GREAT, _SMALL.value, 1.0).to(_f64)
        above, here, result, norm = here * factor, below * factor, result * factor, norm * factor
        weight = where(k % 2 == 1, where(k == 1, 1.0, 2.0), 0.0).to(_f64)
        norm += weight * here
        result = where(size == k - 1, here, result)
    return result / norm


@_traced
def _jn(n: Any, x: Any, top: Any) -> Any:
    size, r = abs(n), abs(x)
    zeroth, first = _zeroth(r), _first(r)
    up = _upwards(size, r, zeroth, first, top)
    down = where(r < _LEAST, 0.0, _downwards(size, where(r < _LEAST, 1.0, r), top))
    value = where(size < 2, where(size == 0, zeroth, first), where(cast(size, _f64) <= r, up, down))
    value = where(x == x, value, x)
    return where(((n & 1) != 0) & ((n < 0) ^ (x < 0)), -value, value)


@_traced
def _yn(n: Any, x: Any, top: Any) -> Any:
    value = _upwards(abs(n), x, _zeroth_second(x), _first_second(x), top)
    value = where(x == 0, float("-inf"), where(x < 0, float("nan"), value))
    return where(((n & 1) != 0) & (n < 0), -value, value)


def _of_order(name: str, function: Callable[..., Any], n: Any, x: Any) -> tensor:
    n, x = to_tensor(n), to_tensor(x)
    if not n.dtype.is_int() or x.dtype not in (types.float32, types.float64):
        raise error(TypeError, f"libdevice.{name} takes an integer and fp32 or fp64, got {n.dtype} and {x.dtype}")
    n = cast(n, types.int32)
    top = _largest(abs(n)) if n.shape else abs(n)
    order, wide = broadcast(n, cast(x, types.float64))
    return cast(function(order, wide, top), x.dtype)


def jn(n: Operand, x: Operand) -> tensor:
    """The Bessel function of the first kind of order n."""
    return _of_order("jn", _jn, n, x)


def yn(n: Operand, x: Operand) -> tensor:
    """The Bessel function of the second kind of order n."""
    return _of_order("yn", _yn, n, x)
