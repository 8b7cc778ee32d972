"""The elementwise functions of tiles under Triton's names, made from the table of functions."""

from ...errors import error
from ..functions import Namespace
from ..functions.row import FLOATS, INTEGERS, NUMBERS, SINGLE
from ..functions.table import ROWS
from .types import unwrap
from .value import called, member, native, own, tensor, to_tensor, tracer, wrap

_WORDS = {SINGLE: "fp32 or fp64", FLOATS: "floats", INTEGERS: "integers"}


class Operations:
    """What the rows of the table of functions compute with."""

    @staticmethod
    def unary(op, x):
        return wrap(native().unary(op, x))

    @staticmethod
    def binary(op, x, y):
        return wrap(native().binary(op, x, y))

    @staticmethod
    def wrapping(op, x, y):
        """One that may overflow, whatever the launch checks."""
        with tracer().wrapping():
            return wrap(native().binary(op, x, y))

    @staticmethod
    def math(op, *operands):
        return wrap(native().math(op, *operands))

    @staticmethod
    def function(name, *operands):
        """One that the builder composes of several operations; its operands have one type."""
        return wrap(native().function(name, *operands))

    @staticmethod
    def select(condition, x, y):
        return wrap(native().select(condition, x, y))

    @staticmethod
    def dtype(x):
        """The name of a tile's element type."""
        return x.handle.dtype

    @staticmethod
    def cast(x, dtype, toward_zero=False):
        return wrap(native().cast(x, dtype, toward_zero))

    @staticmethod
    def bitcast(x, dtype):
        return wrap(native().bitcast(x, dtype))

    @staticmethod
    def alike(*operands):
        """All as tiles of their common type."""
        common = next(x for x in operands if isinstance(x, tensor))
        for x in operands:
            common = wrap(native().binary("+", common, x)) if isinstance(x, tensor) else common
        return [wrap(native().cast(x, common.handle.dtype)) for x in operands]

    @staticmethod
    def to_float(x):
        """Integers as float32."""
        integer = isinstance(x, tensor) and not x.dtype.is_floating()
        return wrap(native().cast(x, "float32")) if integer else x


def call(language, row, name, *arguments):
    """The result of an elementwise function. A number takes the type of the tiles beside it."""
    arguments = [own(unwrap(a)) for a in arguments]
    operands = arguments[: len(row.parameters)]
    row.check(arguments)
    if not any(isinstance(x, tensor) for x in operands):
        arguments[0] = operands[0] = to_tensor(operands[0])
    accepted = getattr(row.takes, language)
    tiles = [x for x in operands if isinstance(x, tensor)]
    if row.mixed and accepted and any(x.handle.dtype in accepted for x in tiles):
        accepted = NUMBERS
    for x in tiles:
        native().require_numbers(x, name)
        if accepted and x.handle.dtype not in accepted:
            hint = f"convert first: x.to({called('float32')})" if accepted is SINGLE else None
            raise error(ValueError, f"{name} takes {_WORDS.get(accepted, 'numbers')}, got {x.dtype}", hint=hint)
    return row.call(Operations, *arguments)


__getattr__, __dir__ = Namespace(__name__, "tl", ["core.functions.table:ROWS"], "core.tile.elementwise:call", "tl").hooks()

for _row in ROWS:
    if _row.method:
        for _name, _ in _row.spelled("tl"):
            member(__getattr__(_name))
