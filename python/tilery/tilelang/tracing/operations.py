"""Elementwise functions on T's values: Python's own on numbers, trees on sizes, the builder's on run-time values."""

from __future__ import annotations

from typing import Any

from ...core.functions.host import on_numbers
from ...core.functions.row import SAME, Row
from ...errors import error
from . import dtypes, values
from .values import Expr, Val, cast, current_builder, is_number
from .vectors import lanewise


class Operations:
    """What the rows of the table of functions compute with."""

    unary = staticmethod(values.unary)

    @staticmethod
    def binary(op: str, x: Any, y: Any) -> Any:
        values.check_divisor(op, x, y)
        return values.binary(op, x, y) if op in values.FOLD else Val(current_builder().binary(op, x, y))

    @staticmethod
    def math(op: str, *operands: Any) -> Val:
        return Val(current_builder().math(op, *map(Operations.to_float, operands)))

    @staticmethod
    def function(name: str, *operands: Any) -> Val:
        """One that the builder composes of several operations; its operands have one type."""
        return Val(current_builder().function(name, *operands))

    @staticmethod
    def select(condition: Any, x: Any, y: Any) -> Val:
        return Val(current_builder().select(condition, x, y))

    @staticmethod
    def wrapping(op: str, x: Any, y: Any) -> Any:
        """One that may overflow."""
        return Operations.binary(op, x, y)

    @staticmethod
    def dtype(x: Any) -> str:
        """The name of a number's type."""
        return str(x.dtype)

    @staticmethod
    def cast(x: Any, to: str) -> Any:
        return cast(x, to)

    @staticmethod
    def bitcast(x: Any, to: str) -> Val:
        return Val(current_builder().bitcast(x, dtypes.dtype(to)))

    @staticmethod
    def alike(*operands: Any) -> list[Any]:
        """All in the type of the first: device functions have operands of one."""
        return [cast(x, operands[0].dtype) for x in operands]

    @staticmethod
    def to_float(x: Any) -> Any:
        """Integers as float32."""
        return cast(x, "float32") if isinstance(x, Expr) and not dtypes.is_float(x.dtype) else x


def call(language: str, row: Row, name: str, *arguments: Any) -> Any:
    """The value of an elementwise function."""
    operands = arguments[: len(row.parameters)]
    row.check(arguments)
    options = arguments[len(row.parameters) :]
    lanes = lanewise(lambda *lane: call(language, row, name, *lane, *options), operands)
    if lanes is not None:
        return lanes
    values.require_operands(f"T.{name}", *operands)
    if all(map(is_number, operands)):
        return on_numbers(row)(*arguments)
    takes = row.takes.T or ()
    narrow = {operand.dtype for operand in operands if isinstance(operand, Expr) and "float8" in operand.dtype}
    if len(narrow) == 1 and row.result is SAME and not narrow & set(takes):  # exact in float32
        wide = [cast(operand, "float32") if isinstance(operand, Expr) else operand for operand in operands]
        return cast(call(language, row, name, *wide, *options), narrow.pop())
    for operand in operands:
        if isinstance(operand, Expr) and operand.dtype not in takes:
            raise error(TypeError, f"T.{name} does not take {operand.dtype}", hint="it takes " + ", ".join(takes))
    if name.startswith("__"):  # T.__exp: fast, whatever the options of the function say
        return _fast(row, arguments)
    return row.call(Operations, *arguments)


def _fast(row: Row, arguments: tuple[Any, ...]) -> Any:
    """The machine's approximation of a function."""
    native = current_builder()
    before = native.fast_math(True)
    try:
        return row.call(Operations, *arguments)
    finally:
        native.fast_math(before)
