"""Products of short vectors."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..tracing.context import kernel
from ..tracing.memory import Element, Memory, Region, neighbours
from ..tracing.values import Expr, binary, cast


def _four(side: Any, name: str) -> list[Any]:
    """Four neighbours: of a buffer or slice, or those that begin at an element."""
    found = neighbours(side, 4)
    if found is not None and len(found) == 4:
        return found
    raise error(ValueError, f"T.dp4a takes four int8 as `{name}`, got {side!r}")


def dp4a(A: Any, B: Any, C: Any) -> None:
    """C += A[0] * B[0] + ... + A[3] * B[3], of four int8 each, in int32."""
    kernel("T.dp4a")
    kinds = [side.dtype for side in (A, B, C) if isinstance(side, (Memory, Region, Expr))]
    if kinds != ["int8", "int8", "int32"]:
        raise error(ValueError, f"T.dp4a requires int8, int8 and int32, got {', '.join(map(str, kinds))}")
    target = C if isinstance(C, Element) else C[(0,) * len(C.shape)] if isinstance(C, Memory) else C.elements()[0]
    total: Any = target.read()
    for a, b in zip(_four(A, "A"), _four(B, "B")):
        total = binary("+", total, binary("*", cast(a, "int32"), cast(b, "int32")))
    target.store(total)
