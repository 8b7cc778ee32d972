"""Regions of memory that holds codes, where their values are meant: as a fragment of a type that is computed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilery import _native

from ...errors import error
from .coded import decode, encode
from .context import kernel
from .dtypes import dtype
from .memory import Element, Memory, Region, native_region, region_memory
from .values import Val, binary, cast

# What holds every value of a coded type.
_VALUES = {"int4": "int8", "uint4": "uint8", "float8_e8m0fnu": "float32"}


def value_type(kind: dtype) -> dtype:
    """The type of a coded type's values."""
    return dtype(_VALUES.get(str(kind), "float16"))


def _region(side: Any, extents: Sequence[Any] | None, what: str) -> Region:
    """A side with extents: its own, or those of the other side from where it starts."""
    if isinstance(side, Memory):
        side = side[(slice(None),) * side.ndim]
    if isinstance(side, Element) and extents is not None:
        rank = side.memory.ndim
        side = Region(side.memory, side.indices, [1] * (rank - len(extents)) + list(extents)[-rank:])
    if not isinstance(side, Region) or not all(isinstance(n, int) for n in side.extents):
        raise error(ValueError, f"{what} of `{region_memory(side).label()}` needs extents known at compile time")
    return side


def _buffer(shape: Sequence[int], kind: Any) -> Memory:
    trace = kernel("a fragment")
    memory = Memory(shape, kind, "local.fragment")
    memory.native = trace.native.alloc(list(shape), memory.dtype.storage, "fragment")
    return memory


def _loop(trace: Any, shape: Sequence[int], body: Any) -> None:
    native = trace.native
    indices = [Val(index) for index in native.parallel_begin([native.constant(n, "int32") for n in shape])]
    body(indices)
    native.parallel_end()


def decoded(side: Any, extents: Sequence[Any] | None, what: str) -> Memory:
    """A fragment of the values of a side that holds codes."""
    trace, region = kernel(what), _region(side, extents, what)
    kind, shape = region.dtype, list(region.extents)
    two = kind.pack == 2
    codes = _buffer([*shape[:-1], shape[-1] // 2] if two else shape, "uint8")
    source = native_region(trace, region, what, True, as_bytes=True)
    _native.copy_region(trace.native, source, native_region(trace, codes, what), None)
    values = _buffer(shape, value_type(kind))

    def body(indices: list[Any]) -> None:
        *outer, last = indices
        byte = Element(codes, [*outer, binary("//", last, 2) if two else last]).read()
        if two:
            shift = binary("*", binary("%", last, 2), 4)
            byte = cast(binary("&", binary(">>", cast(byte, "int32"), shift), 15), "uint8")
        Element(values, indices).store(decode(kind, byte))

    _loop(trace, shape, body)
    return values


def store_values(src: Any, dst: Any, what: str) -> None:
    """Codes of a side's values go to memory that holds codes."""
    trace = kernel(what)
    region = _region(dst, getattr(src, "shape", None), what)
    kind, shape = region.dtype, list(region.extents)
    two = kind.pack == 2
    values = _buffer(shape, region_memory(src).dtype)
    _native.copy_region(trace.native, native_region(trace, src, what, True), native_region(trace, values, what), None)
    codes = _buffer([*shape[:-1], shape[-1] // 2] if two else shape, "uint8")

    def body(indices: list[Any]) -> None:
        *outer, last = indices
        if not two:
            return Element(codes, indices).store(encode(kind, Element(values, indices).read()))
        low, high = (
            cast(encode(kind, Element(values, [*outer, binary("+", binary("*", last, 2), place)]).read()), "int32")
            for place in (0, 1)
        )
        return Element(codes, indices).store(cast(binary("|", low, binary("<<", high, 4)), "uint8"))

    _loop(trace, codes.shape, body)
    target = native_region(trace, region, what, as_bytes=True)
    _native.copy_region(trace.native, native_region(trace, codes, what), target, None)


def copy_coded(src: Any, dst: Any, what: str) -> None:
    """dst = src where one of them, or both in different types, hold codes."""
    if region_memory(src).coded:
        src = decoded(src, getattr(dst, "shape", None), what)
    if region_memory(dst).coded:
        return store_values(src, dst, what)
    trace = kernel(what)
    _native.copy_region(trace.native, native_region(trace, src, what, True), native_region(trace, dst, what), None)
