"""Copies between tensors and buffers."""

from __future__ import annotations

import math
from typing import Any

from tilery import _native

from ...core.ignored import ignore
from ...errors import error
from ..tracing.coded_regions import copy_coded
from ..tracing.layouts import are_known, each_element, is_laid_out
from ..tracing.memory import Element, LocalVar, Memory, Region, copied_regions, share, tile_op
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
    """dst = src, converted to dst's type, extents deduced from both. Outside a tensor: reads give 0, writes do nothing.
    eviction_policy: how long a GPU's caches keep what is copied ("evict_first", "evict_last")."""
    if annotations and "eviction_policy" in annotations:
        eviction_policy = annotations["eviction_policy"]
    for name, value, known in (
        ("eviction_policy", eviction_policy, ("evict_normal", "evict_first", "evict_last")),
        ("prefer_instruction", prefer_instruction, ("tma", "cp_async", "sync")),
    ):
        if value is not None and value not in known:
            raise error(ValueError, f"T.copy has no {name} {value!r}", hint="known: " + ", ".join(known))
    others = {name: value for name, value in (annotations or {}).items() if name != "eviction_policy"}
    ignore(
        "T.copy",
        coalesced_width=coalesced_width,
        disable_tma=disable_tma,
        prefer_instruction=prefer_instruction,
        annotations=others or None,
        loop_layout=loop_layout,
    )
    if isinstance(dst, (Element, LocalVar)) and (isinstance(src, (Element, LocalVar)) or is_number(src)):
        ignore("T.copy", eviction_policy=eviction_policy)
        return dst.store(src)
    trace = tile_op("T.copy")
    if trace.work:
        _count(trace.work, src, dst)
    sides: list[Any] = [side if isinstance(side, Memory) else getattr(side, "memory", None) for side in (src, dst)]
    if None not in sides and any(side.coded for side in sides) and sides[0].dtype != sides[1].dtype:
        ignore("T.copy", eviction_policy=eviction_policy)
        return copy_coded(src, dst, "T.copy")
    if is_laid_out(trace, src) or is_laid_out(trace, dst) or not (are_known(src) or are_known(dst)):
        ignore("T.copy", eviction_policy=eviction_policy)
        return each_element(src, dst, "T.copy")
    safe = trace.safe_value(sides[0])
    regions = copied_regions(trace, src, dst, "T.copy")
    _native.copy_region(trace.native, *regions, safe, eviction_policy or "")
    share(trace, dst)


def _count(work: Any, src: Any, dst: Any) -> None:
    """Bytes from and to tensors: of the side whose extents say how many elements."""
    sizes = [math.prod(side.shape) for side in (dst, src) if isinstance(side, (Memory, Region))]
    for side in (src, dst):
        memory = side if isinstance(side, Memory) else side.memory
        if memory.is_global:
            work.bytes += min(sizes) * memory.dtype.bits // 8 * work.repeated()


async_copy = copy
