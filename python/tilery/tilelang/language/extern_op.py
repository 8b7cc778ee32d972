"""Device functions that are called by name: those of `tilelang.quantize`, which every target has."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..quantize.decoders import DECODERS
from ..tracing.context import current, kernel
from .pointer import Pointer

_NO_TEXT = "text of another language cannot be compiled for every target; only what tilelang.quantize names can be called"


def import_source(source: str | None = None) -> None:
    """Takes the text that `tilelang.quantize.get_lop3_intrin_group` and its like give, and no other."""
    if source and source not in {decoder.source for decoder in DECODERS.values()}:
        raise error(NotImplementedError, "T.import_source takes no program text", hint=_NO_TEXT)
    if current() is None:
        raise error(RuntimeError, "T.import_source is used outside of a kernel")


def call_extern(*arguments: Any, dtype: Any = None) -> None:
    """call_extern(name, source, destination, [scale], [zeros], [count], dtype=...) or with the type in front: unpacks `count`
    numbers (8 to float16 and bfloat16, 16 to int8) from the integers that begin at one address to those at the other."""
    kernel("T.call_extern")
    name, *rest = arguments if dtype is not None else arguments[1:]
    decoder = DECODERS.get(name) if isinstance(name, str) else None
    if decoder is None:
        raise error(NotImplementedError, f"T.call_extern knows no function {name!r}", hint=_NO_TEXT)
    if len(rest) not in (2 + len(decoder.extras), 3 + len(decoder.extras)):
        wanted = ", ".join(("source", "destination", *decoder.extras, "[count]"))
        raise error(TypeError, f"{name} takes ({wanted}), got {len(rest)} arguments")
    pointers, count = rest[: 2 + len(decoder.extras)], rest[2 + len(decoder.extras) :]
    for pointer in pointers:
        if not isinstance(pointer, Pointer):
            raise error(TypeError, f"{name} takes addresses, got {pointer!r}", hint="T.access_ptr and T.address_of give them")
    number = count[0] if count else decoder.count
    if not isinstance(number, int) or number <= 0:
        raise error(TypeError, f"{name} unpacks a fixed number of elements, got {number!r}")
    number *= decoder.results
    source, destination, *extras = pointers
    packed = source.neighbours(-(-number * decoder.bits // source.element.dtype.bits))
    values = [element.read() for element in packed]
    decoder.write(values, destination.neighbours(number), *(extra.element.read() for extra in extras))
