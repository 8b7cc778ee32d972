"""Kinds of symbolic values, for `isinstance`. Numbers are Python's."""

from __future__ import annotations

from typing import Any

from ...tracing.values import Expr as PrimExpr
from ...tracing.values import Node, Var
from ..refused import hook

__all__ = ["Add", "And", "FloatImm", "FloorDiv", "FloorMod", "IntImm", "Mul", "Not", "Or", "PrimExpr", "Sub", "Var"]
__getattr__ = hook("tvm.tirx.expr")


class _Number(type):
    """The class of a number is Python's."""

    number: type

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.number) and not isinstance(value, bool)

    def __call__(cls, dtype: Any, value: Any, span: Any = None) -> Any:
        return cls.number(value)


class IntImm(metaclass=_Number):
    """`IntImm("int32", 3)` is 3."""

    number = int


class FloatImm(metaclass=_Number):
    """`FloatImm("float32", 0.5)` is 0.5."""

    number = float


class _Operation(type):
    """The class of trees over sizes by their operation."""

    operation: str

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Node) and value.op == cls.operation


def _operation(name: str, operation: str) -> type:
    return _Operation(name, (), {"operation": operation})


Add = _operation("Add", "+")
Sub = _operation("Sub", "-")
Mul = _operation("Mul", "*")
FloorDiv = _operation("FloorDiv", "//")
FloorMod = _operation("FloorMod", "%")
And = _operation("And", "and")
Or = _operation("Or", "or")
Not = _operation("Not", "not")
