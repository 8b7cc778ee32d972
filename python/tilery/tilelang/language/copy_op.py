"""Copies between tensors and buffers."""

from __future__ import annotations

from typing import Any

from tilery import _native

from ..tracing.memory import Element, LocalVar, native_region, tile_op
from ..tracing.values import is_number


def copy(
    src: Any,
    dst: Any,
    *,
    coalesced_width: int | None = None,
    disable_tma: bool = False,
    eviction_policy: str | None = None,
    prefer_instruction: str | None = None,
    annotations: dict[str, Any] | None = None,
    loop_layout: Any = None,
) -> None:
    """dst = src, converted to dst's type, extents deduced from both. Outside a tensor: reads give 0, writes do nothing."""
    if isinstance(dst, (Element, LocalVar)) and (isinstance(src, (Element, LocalVar)) or is_number(src)):
        return dst.store(src)
    trace = tile_op("T.copy")
    safe = trace.safe_value(getattr(src, "memory", src))
    _native.copy_region(trace.native, native_region(trace, src, "T.copy", reads=True), native_region(trace, dst, "T.copy"), safe)


async_copy = copy
