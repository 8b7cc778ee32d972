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
from ...tracing.values import Var, cast
from ..refused import hook
from . import expr
from .expr import FloatImm, IntImm
from .index_map import IndexMap

__all__ = ["Buffer", "BufferLoad", "BufferRegion", "FloatImm", "IndexMap", "IntImm"]
__all__ += ["PrimExpr", "PrimFunc", "Var", "const", "expr"]
_missing = hook("tvm.tirx")


def const(value: Any, dtype: Any = None, span: Any = None) -> Any:
    """A number of a type; outside of kernels, and of type int32, Python's."""
    ignore("tilelang.tvm.tirx.const", span=span)
    return value if dtype is None else cast(value, dtype)


def __getattr__(name: str) -> Any:
    return getattr(language, name) if name in language.__all__ else _missing(name)
