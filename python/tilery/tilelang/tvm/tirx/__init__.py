"""Symbolic values under upstream's names; functions are those of T."""

from __future__ import annotations

from typing import Any

from ....core.ignored import ignore
from ... import language
from ...language.eager import PrimFunc
from ...tracing.memory import Element as BufferLoad
from ...tracing.memory import Memory as Buffer
from ...tracing.memory import Region as BufferRegion
from ...tracing.values import Expr as PrimExpr
from ...tracing.values import cast, substitute
from ..refused import hook
from . import expr, op, stmt_functor
from .expr import FloatImm, IntImm, Var
from .index_map import IndexMap
from .op import all, any, call_intrin

__all__ = ["Buffer", "BufferLoad", "BufferRegion", "FloatImm", "IndexMap", "IntImm"]
__all__ += ["Let", "PrimExpr", "PrimFunc", "Var", "all", "any", "call_intrin", "const", "expr", "op", "stmt_functor"]
_missing = hook("tvm.tirx")


def const(value: Any, dtype: Any = None, span: Any = None) -> Any:
    """A number of a type; outside of kernels, and of type int32, Python's."""
    ignore("tilelang.tvm.tirx.const", span=span)
    return value if dtype is None else cast(value, dtype)


def Let(var: Any, value: Any, body: Any, span: Any = None) -> Any:
    """The body with a size for its variable. A number of a kernel is computed once and has its name already (it is a `Var`):
    what would be bound is used itself."""
    ignore("tilelang.tvm.tirx.Let", span=span)
    return substitute(body, {var.uid: value})


def __getattr__(name: str) -> Any:
    return getattr(language, name) if name in language.__all__ else _missing(name)
