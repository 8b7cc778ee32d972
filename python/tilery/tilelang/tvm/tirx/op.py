"""Calls of operations by their names: `tirx.call_intrin("float16", tirx.op.Op.get("tl.max_nan"), a, b)`."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from ....core.ignored import ignore
from ....errors import error
from ... import language
from ...refused import PASSES
from ...tracing.values import binary, cast
from ..refused import hook

__all__ = ["Op", "all", "any", "call_intrin"]
__getattr__ = hook("tvm.tirx.op")

# Operations without a name of their own in T.
_OWN: dict[str, Callable[..., Any]] = {
    "max_nan": lambda a, b: binary("max_nan", a, b),
    "min_nan": lambda a, b: binary("min_nan", a, b),
}


class Op:
    """An operation by its name, `Op.get("tirx.exp")`."""

    def __init__(self, name: str) -> None:
        self.name = name

    @staticmethod
    def get(name: str) -> Op:
        return Op(name)


def call_intrin(dtype: Any, func_name: Any, *arguments: Any, span: Any = None) -> Any:
    """The result of an operation, an Op or its name, in a type."""
    ignore("tilelang.tvm.tir.call_intrin", span=span)
    name = str(getattr(func_name, "name", func_name))
    family, _, short = name.rpartition(".")
    function = _OWN.get(short)
    if function is None and family in ("", "tl", "tir", "tirx") and short in language.__all__:
        function = getattr(language, short)
    if function is None:
        raise error(NotImplementedError, f"call_intrin knows no operation {name!r}", hint=PASSES)
    result = function(*arguments)
    return result if result is None or str(dtype) == "handle" else cast(result, dtype)


def all(*conditions: Any, span: Any = None) -> Any:
    """Are all conditions true?"""
    ignore("tilelang.tvm.tir.all", span=span)
    return reduce(lambda a, b: binary("and", a, b), conditions)


def any(*conditions: Any, span: Any = None) -> Any:
    """Is any condition true?"""
    ignore("tilelang.tvm.tir.any", span=span)
    return reduce(lambda a, b: binary("or", a, b), conditions)
