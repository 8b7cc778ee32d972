"""Kinds of symbolic values, for `isinstance`. Numbers are Python's."""

from __future__ import annotations

from typing import Any

from ...tracing.dtypes import dtype as element_type
from ...tracing.values import Expr as PrimExpr
from ...tracing.values import Node, Val
from ...tracing.values import Var as Variable
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


class _Named(type):
    """What has a name: variables, and the numbers of a kernel, each of which is computed once however often it is used."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (Variable, Val))

    def __call__(cls, name: str = "v", dtype: Any = "int32", span: Any = None) -> Variable:
        return Variable(name, element_type(dtype))


class Var(metaclass=_Named):
    """`Var("n", "int32")` is a size."""


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
