"""Addresses of elements, and copies between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import error
from ...frontend.wording import counted
from ..tracing.context import kernel
from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import Data, Element, Memory, Region
from ..tracing.values import Expr, Val, binary, cast, select


class Pointer(Expr):
    """Where an element lies. Of a tensor it is a number, which T.make_tensor takes; of a buffer only copies take it. count: how
    many elements from there on the program says it touches, where it says so."""

    __slots__ = ("element", "access", "count")
    dtype = element_type("handle")

    def __init__(self, element: Element, access: str, count: int | None = None) -> None:
        super().__init__()
        self.element, self.access, self.count = element, access, count

    @property
    def __tile_value__(self) -> Any:
        return _address(self.element).value


def _address(element: Element) -> Val:
    trace = kernel("an address")
    element = element.located(trace)
    memory = element.memory
    pointer = trace.open.pointers.get(id(memory))
    if pointer is None or memory.coded:
        raise error(
            NotImplementedError,
            f"the address of an element of `{memory.label()}` is no number",
            hint="only those of tensors are, of types of whole bytes",
        )
    native, place = trace.native, Val(trace.native.cast(0, "int64"))
    for index, stride in zip(element.indices, trace.open.strides[id(memory)]):
        place = binary("+", place, binary("*", Val(native.cast(index, "int64")), Val(native.cast(stride, "int64"))))
    return binary("+", Val(native.pointer_to_int(pointer)), binary("*", place, memory.dtype.bits // 8))


def _element(place: Any, what: str) -> Element:
    if isinstance(place, Memory):
        return Element(place, [0] * place.ndim)
    if isinstance(place, Region):
        return Element(place.memory, list(place.starts))
    if not isinstance(place, Element):
        raise error(TypeError, f"{what} takes an element, a slice or a buffer, got {place!r}")
    return place


def address_of(place: Any) -> Pointer:
    """The address of an element, or of the first one of a buffer or slice."""
    kernel("T.address_of")
    return Pointer(_element(place, "T.address_of"), "rw")


_ACCESSES = {1: "r", 2: "w", 3: "rw"}


def access_ptr(
    place: Any, access_type: str | int = "rw", *extents: Any, offset: Any = 0, extent: Any = None, ignore_last_ndim: int = 0
) -> Pointer:
    """The address of an element, and what is done there: "r", "w" or "rw" (1, 2, 3). The extents that follow, or `extent`, say
    how many elements; ignore_last_ndim: indices of so many last dimensions count as 0."""
    kernel("T.access_ptr")
    access = _ACCESSES.get(access_type) if isinstance(access_type, int) else access_type
    if access not in _ACCESSES.values():
        raise error(ValueError, f"T.access_ptr has no access {access_type!r}", hint="known: r, w, rw")
    element = _element(place, "T.access_ptr")
    if ignore_last_ndim:
        kept = max(0, element.memory.ndim - ignore_last_ndim)
        element = Element(element.memory, [*element.indices[:kept], *[0] * (element.memory.ndim - kept)])
    if not isinstance(offset, int) or offset:
        element = Element(element.memory, [*element.indices[:-1], binary("+", element.indices[-1], offset)])
    return Pointer(element, access, _count(place, extents, extent))


def _access_ptr(
    memory: Memory, access_mask: str | int, ptr_type: str = "handle", content_lanes: int = 1, offset: Any = 0, extent: Any = None
) -> Pointer:
    """`buffer.access_ptr(...)`: T.access_ptr of its element `offset`, counted along its rows."""
    if content_lanes != 1 or ptr_type != "handle":
        raise error(
            ValueError,
            f"`{memory.label()}.access_ptr` gives addresses of its elements, not of {ptr_type} with {content_lanes} lanes",
            hint="leave ptr_type and content_lanes out",
        )
    indices: list[Any] = []
    for size in reversed(memory.shape[1:]):
        indices.insert(0, binary("%", offset, size))
        offset = binary("//", offset, size)
    return access_ptr(memory[(offset, *indices)], access_mask, extent=extent)


setattr(Memory, "access_ptr", _access_ptr)


def type_annotation(dtype: Any) -> Any:
    """A type where T.tvm_access_ptr takes one."""
    return element_type(dtype)


def tvm_access_ptr(ptype: Any, data: Any, offset: Any, extent: Any, rw_mask: str | int) -> Pointer:
    """The address of the element `offset` of a buffer, counted along its rows: `T.tvm_access_ptr(T.type_annotation("float16"),
    A.data, i * 64 + j, 8, "r")`."""
    kernel("T.tvm_access_ptr")
    if not isinstance(data, Data):
        raise error(TypeError, f"T.tvm_access_ptr takes the data of a buffer, got {data!r}", hint="write `buffer.data`")
    if element_type(ptype) != data.memory.dtype:
        raise error(TypeError, f"T.tvm_access_ptr names {ptype} in `{data.memory.label()}`, which holds {data.memory.dtype}")
    return _access_ptr(data.memory, rw_mask, offset=offset, extent=extent)


def _count(place: Any, extents: Sequence[Any], extent: Any) -> int | None:
    """How many elements an address is said to be for; None: nobody says it, or it is known at run time only."""
    if extent is not None:
        extents = (extent,)
    elif len(extents) == 1 and isinstance(extents[0], (list, tuple)):
        extents = extents[0]
    elif not extents and isinstance(place, Region):
        extents = place.extents
    return math.prod(extents) if extents and all(isinstance(n, int) for n in extents) else None


_SIZES = (4, 8, 16)  # bytes that one instruction copies


def _copied(kind: Any, number: int, counts: set[int]) -> int | None:
    """How many elements T.ptx_cp_async copies. Its number counts elements; programs of upstream before 0.1.14 give bytes: they
    say so by the extents of their addresses, or the number is more elements than an instruction copies."""
    by_bytes = number * 8 // kind.bits if number * 8 % kind.bits == 0 else 0
    if counts:
        return next((count for count in (number, by_bytes) if counts == {count}), None)
    return number if number * kind.bits <= _SIZES[-1] * 8 else by_bytes


def _is_merged(bits: int) -> bool:
    """Are copies of so many bits, each too small for an instruction, one copy by the loop around them?"""
    trace = kernel("T.ptx_cp_async")
    vectors = [getattr(region, "vector", 1) for region in trace.regions]
    return bits in (8, 16) and (bool(trace.parallel) or any(bits * lanes % (8 * _SIZES[0]) == 0 for lanes in vectors))


def ptx_cp_async(dst: Any, src: Any, num_elems: int, predicate: Any = None) -> None:
    """Copies elements, 4, 8 or 16 bytes (or fewer in each iteration of a loop that makes vectors of them), from a tensor to a
    buffer, which are there at the next statement; zeros without the predicate. A number that fits the extents of the addresses
    as bytes only is one of bytes."""
    kernel("T.ptx_cp_async")
    if not isinstance(dst, Pointer) or not isinstance(src, Pointer):
        raise error(TypeError, f"T.ptx_cp_async takes two addresses, got {dst!r} and {src!r}", hint="T.access_ptr gives them")
    if isinstance(num_elems, bool) or not isinstance(num_elems, int) or num_elems < 1:
        raise error(ValueError, f"T.ptx_cp_async copies a positive number of elements, got {num_elems!r}")
    kind, other = dst.element.dtype, src.element.dtype
    if kind != other:
        raise error(ValueError, f"T.ptx_cp_async does not copy {other} to {kind}", hint="its sides have one type")
    counts = {pointer.count for pointer in (dst, src) if pointer.count is not None}
    count = _copied(kind, num_elems, counts)
    if count is None:
        said = " and ".join(map(str, sorted(counts)))
        hint = f"write the same number in T.access_ptr(place, access, {num_elems}) and here"
        raise error(ValueError, f"T.ptx_cp_async copies {num_elems} elements of {kind}, its addresses are for {said}", hint=hint)
    if count * kind.bits not in [8 * size for size in _SIZES] and not _is_merged(count * kind.bits):
        given = f"{counted(num_elems, 'element')} of {kind} ({counted(count * kind.bits // 8, 'byte')})"
        whole = " or ".join(str(8 * size // kind.bits) for size in _SIZES if 8 * size >= kind.bits)
        raise error(
            ValueError, f"T.ptx_cp_async copies 4, 8 or 16 bytes, not {given}", hint=f"copy {whole} elements at a time"
        )
    values = [element.read() for element in src.element.neighbours(count)]
    for element, value in zip(dst.element.neighbours(count), values):
        element.store(value if predicate is None else select(predicate, value, cast(0, kind)))
