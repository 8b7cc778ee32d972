"""Addresses of elements, and copies between them."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..tracing.context import kernel
from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import Element, Memory, Region
from ..tracing.values import Expr, Val, binary, cast, select


class Pointer(Expr):
    """Where an element lies. Of a tensor it is a number, which T.make_tensor takes; of a buffer only copies take it."""

    __slots__ = ("element", "access")
    dtype = element_type("handle")

    def __init__(self, element: Element, access: str) -> None:
        super().__init__()
        self.element, self.access = element, access

    @property
    def __tile_value__(self) -> Any:
        return _address(self.element).value

    def neighbours(self, count: int) -> list[Element]:
        """The element and those behind it in its row."""
        *outer, last = self.element.indices
        return [Element(self.element.memory, [*outer, binary("+", last, place) if place else last]) for place in range(count)]


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


def access_ptr(place: Any, access_type: str = "rw", *extents: Any, offset: Any = 0) -> Pointer:
    """The address of an element, and what is done there: "r", "w" or "rw". The extents that follow are upstream's bookkeeping."""
    kernel("T.access_ptr")
    if access_type not in ("r", "w", "rw"):
        raise error(ValueError, f"T.access_ptr has no access {access_type!r}", hint="known: r, w, rw")
    element = _element(place, "T.access_ptr")
    if not isinstance(offset, int) or offset:
        element = Element(element.memory, [*element.indices[:-1], binary("+", element.indices[-1], offset)])
    return Pointer(element, access_type)


def ptx_cp_async(dst: Any, src: Any, bytes: int, predicate: Any = None) -> None:
    """Copies 4, 8 or 16 bytes from a tensor to a buffer, which are there at the next statement; zeros without the predicate."""
    kernel("T.ptx_cp_async")
    if not isinstance(dst, Pointer) or not isinstance(src, Pointer):
        raise error(TypeError, f"T.ptx_cp_async takes two addresses, got {dst!r} and {src!r}", hint="T.access_ptr gives them")
    if bytes not in (4, 8, 16):
        raise error(ValueError, f"T.ptx_cp_async copies 4, 8 or 16 bytes, got {bytes!r}")
    kinds = dst.element.dtype, src.element.dtype
    if kinds[0] != kinds[1] or kinds[0].bits > bytes * 8:
        raise error(ValueError, f"T.ptx_cp_async does not copy {bytes} bytes of {kinds[1]} to {kinds[0]}")
    count = bytes * 8 // kinds[0].bits
    values = [element.read() for element in src.neighbours(count)]
    for element, value in zip(dst.neighbours(count), values):
        element.store(value if predicate is None else select(predicate, value, cast(0, kinds[0])))
