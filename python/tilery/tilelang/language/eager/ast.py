"""How functions become IR here: see tilery.frontend."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from ....frontend.rewrite import Rewritten, rewrite
from ...refused import hook
from ...tracing.prepare import prepare

__getattr__ = hook("tilelang.language.eager.ast", "functions are rewritten in another form here, which is no interface")


class IRGenerator:
    """A function as it is traced: its statements are calls of hooks. `source` is its text."""

    def __init__(self, function: types.FunctionType, rewritten: Rewritten) -> None:
        self.function, self.rewritten = function, rewritten

    @property
    def source(self) -> str:
        return ast.unparse(self.rewritten.tree)

    def gen(self, hooks: Any) -> types.FunctionType:
        """The function under a set of hooks."""
        return self.rewritten.bind(self.function, hooks)


def mutate(func: Callable[..., Any]) -> IRGenerator:
    """A function of a kernel, rewritten."""
    assert isinstance(func, types.FunctionType)
    return IRGenerator(func, rewrite(func, prepare))
