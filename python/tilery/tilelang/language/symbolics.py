"""Sizes that each call binds."""

from __future__ import annotations

from ..tracing.context import current
from ..tracing.dtypes import dtype as element_type
from ..tracing.values import Var


def _size(name: str, kind: element_type) -> Var:
    """An eager function is traced twice and makes the same sizes each time."""
    trace = current()
    if trace is None or trace.eager is None:
        return Var(name, kind)
    made, at = trace.eager.dynamics, trace.dynamics
    trace.dynamics += 1
    if at == len(made) or (made[at].name, made[at].dtype) != (name, kind):
        made[at:] = [Var(name, kind)]
    return made[at]


def dynamic(names: str, dtype: str = "int32") -> Var | tuple[Var, ...]:
    """Sizes that each call binds: `m, n = T.dynamic("m, n")`."""
    made = tuple(_size(name, element_type(dtype)) for name in names.replace(",", " ").split())
    return made[0] if len(made) == 1 else made
