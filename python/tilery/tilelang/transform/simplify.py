"""Simplification of functions. Their code is simplified when they are compiled; parameters that nothing uses go here."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..language.eager.builder import PrimFunc
from ..tracing import program
from ..tracing.context import current


class Simplified(PrimFunc):
    """A function without some of its tensors, which its kernels do not use."""

    def __init__(self, whole: PrimFunc, unused: Sequence[str]) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole, self.dropped, self.traced = whole.params, tuple(unused), None
        self.params = [(name, kind) for name, kind in whole.params if name not in unused]
        self.compile_time = (*whole.compile_time, self.dropped)

    def bind(self, values: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        given = iter(values)
        trace = current()
        return [program.absent(trace, name, kind) if name in self.dropped else next(given) for name, kind in self.whole], {}


def apply_simplify(stmt: Any, inline_let: bool = False) -> Any:
    """The function without the tensors that it does not use; anything else as it is."""
    if type(stmt) is not PrimFunc:
        return stmt
    unused = stmt.unused()
    return Simplified(stmt, unused) if unused else stmt


def simplify_prim_func(func: Any = None, inline_let: bool = False) -> Any:
    """Decorator of a function that returns a prim_func: the same function, whose results are simplified."""
    if func is None:
        return lambda f: simplify_prim_func(f, inline_let)

    @functools.wraps(func)
    def simplified(*args: Any, **kwargs: Any) -> Any:
        return apply_simplify(func(*args, **kwargs), inline_let)

    return simplified
