"""libdevice's Bessel functions of any order, whose operands have two types."""

from __future__ import annotations

from ...errors import error
from . import types
from .value import Operand, native, tensor, to_tensor, wrap


def _of_order(name: str, n: Operand, x: Operand) -> tensor:
    n, x = to_tensor(n), to_tensor(x)
    if not n.dtype.is_int() or x.dtype not in (types.float32, types.float64):
        raise error(TypeError, f"libdevice.{name} takes an integer and fp32 or fp64, got {n.dtype} and {x.dtype}")
    return wrap(native().function(name, n, x))


def jn(n: Operand, x: Operand) -> tensor:
    """The Bessel function of the first kind of order n."""
    return _of_order("jn", n, x)


def yn(n: Operand, x: Operand) -> tensor:
    """The Bessel function of the second kind of order n."""
    return _of_order("yn", n, x)
