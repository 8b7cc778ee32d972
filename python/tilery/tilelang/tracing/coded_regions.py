"""Regions of memory that holds codes, where their values are meant: as a fragment of a type that is computed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilery import _native

from ...errors import error
from .coded import coding
from .context import kernel
from .memory import Element, Memory, Region, native_region, region_memory


def _region(side: Any, extents: Sequence[Any] | None, what: str) -> Region:
    """A side with extents: its own, or those of the other side from where it starts."""
    if isinstance(side, Memory):
        side = side.whole()
    if isinstance(side, Element) and extents is not None:
        rank = side.memory.ndim
        side = Region(side.memory, side.indices, [1] * (rank - len(extents)) + list(extents)[-rank:])
    if not isinstance(side, Region) or not all(isinstance(n, int) for n in side.extents):
        raise error(ValueError, f"{what} of `{region_memory(side).label()}` needs extents known at compile time")
    return side


def decoded(side: Any, extents: Sequence[Any] | None, what: str) -> Memory:
    """A fragment of the values of a side that holds codes."""
    trace, region = kernel(what), _region(side, extents, what)
    source, kind, shape = native_region(trace, region, what, True, as_bytes=True), region.dtype, list(region.extents)
    values = trace.native.decoded_region(source, shape, coding(kind), kind.pack == 2)
    return Memory(shape, values.dtype, "local.fragment", native=values)


def copy_coded(src: Any, dst: Any, what: str) -> None:
    """dst = src where one of them, or both in different types, hold codes."""
    if region_memory(src).coded:
        src = decoded(src, getattr(dst, "shape", None), what)
    trace = kernel(what)
    values = native_region(trace, src, what, True)
    if not region_memory(dst).coded:
        return _native.copy_region(trace.native, values, native_region(trace, dst, what), None)
    region = _region(dst, getattr(src, "shape", None), what)
    kind, target = region.dtype, native_region(trace, region, what, as_bytes=True)
    trace.native.encode_region(values, target, list(region.extents), coding(kind), kind.pack == 2)
