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


class Add(metaclass=_Operation):
    operation = "+"


class Sub(metaclass=_Operation):
    operation = "-"


class Mul(metaclass=_Operation):
    operation = "*"


class FloorDiv(metaclass=_Operation):
    operation = "//"


class FloorMod(metaclass=_Operation):
    operation = "%"


class And(metaclass=_Operation):
    operation = "and"


class Or(metaclass=_Operation):
    operation = "or"


class Not(metaclass=_Operation):
    operation = "not"
