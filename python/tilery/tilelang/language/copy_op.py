"""Copies between tensors and buffers."""

from tilery import _native

from ..tracing.memory import Element, LocalVar, native_region, tile_op
from ..tracing.values import is_number


def copy(
    src,
    dst,
    *,
    coalesced_width=None,
    disable_tma=False,
    eviction_policy=None,
    prefer_instruction=None,
    annotations=None,
    loop_layout=None,
):
    """dst = src, converted to dst's type, extents deduced from both. Outside a tensor: reads give 0, writes do nothing."""
    if isinstance(dst, (Element, LocalVar)) and (isinstance(src, (Element, LocalVar)) or is_number(src)):
        return dst.store(src)
    trace = tile_op("T.copy")
    safe = trace.safe_value(getattr(src, "memory", src))
    _native.copy_region(trace.native, native_region(trace, src, "T.copy"), native_region(trace, dst, "T.copy"), safe)


async_copy = copy
