"""Updates of tensors that other programs update, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilery import _native

from ...errors import error
from ..tracing.context import kernel
from ..tracing.memory import Element, native_region
from ..tracing.values import Expr, Val, is_number

_ORDERS = {
    None: "relaxed",
    "relaxed": "relaxed",
    "consume": "acquire",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}


def _atomic(kind: str) -> Callable[..., Val | None]:
    def function(
        dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False, use_tma: bool = False
    ) -> Val | None:
        trace = kernel(f"T.atomic_{kind}")
        if memory_order not in _ORDERS:
            raise error(ValueError, f"unknown memory order {memory_order!r}", hint="known: " + ", ".join(filter(None, _ORDERS)))
        order = _ORDERS[memory_order]
        if isinstance(dst, Element) and (isinstance(value, Expr) or is_number(value)):
            if not dst.memory.is_global:
                raise error(
                    NotImplementedError,
                    f"an atomic update of `{dst.memory.label()}`, which is no tensor, is not supported",
                    hint="update a tensor parameter",
                )
            old = trace.native.atomic_place(kind, dst.place(trace), trace.native.cast(value, dst.dtype), order, "gpu")
            return Val(old) if return_prev else None
        if return_prev:
            raise error(NotImplementedError, "return_prev needs a single element as destination")
        trace.check_tile_op(f"T.atomic_{kind}")
        source = (
            value
            if isinstance(value, Expr) and not isinstance(value, Element) or is_number(value)
            else native_region(trace, value, "an atomic update")
        )
        _native.atomic_region(trace.native, kind, native_region(trace, dst, "an atomic update"), source, order)
        return None

    function.__name__ = function.__qualname__ = f"atomic_{kind}"
    function.__doc__ = f"Indivisible {kind} of value (a number, an element or a buffer) into dst."
    return function


atomic_add, atomic_max, atomic_min, atomic_or = _atomic("add"), _atomic("max"), _atomic("min"), _atomic("or")
