"""Sizes that each call binds."""

from __future__ import annotations

from ..tracing.dtypes import dtype as element_type
from ..tracing.values import Var


def dynamic(names: str, dtype: str = "int32") -> Var | tuple[Var, ...]:
    """Sizes that each call binds: `m, n = T.dynamic("m, n")`."""
    made = tuple(Var(name, element_type(dtype)) for name in names.replace(",", " ").split())
    return made[0] if len(made) == 1 else made
