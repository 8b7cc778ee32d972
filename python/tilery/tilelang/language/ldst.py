"""Neighbouring elements moved as one, by upstream's names of the instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.names import named
from ...errors import error
from ..tracing.context import kernel
from ..tracing.memory import Element, neighbours, store_lanes
from ..tracing.values import Val, cast, is_number, select
from ..tracing.vectors import Vector, lanes_of
from .tir.op import reinterpret


def _elements(what: str, place: Any, bits: int) -> list[Element]:
    """The elements that so many bits hold: those of a slice, or from an element on."""
    kernel(what)
    elements = neighbours(place, bits // place.dtype.bits if isinstance(place, Element) else 0)
    if elements is None:
        raise error(TypeError, f"{what} takes a slice or an element, got {place!r}")
    if sum(element.dtype.bits for element in elements) != bits:
        raise error(ValueError, f"{what} moves {bits} bits, not {len(elements)} elements of {elements[0].dtype}")
    return elements


def _word(elements: list[Element]) -> Any:
    """One element of 32 bits, or several as lanes."""
    if len(elements) == 1 and elements[0].dtype.bits == 32:
        return reinterpret(elements[0].read(), "uint32")
    return Vector([element.read() for element in elements])


def _load(name: str, bits: int, shared: bool) -> Callable[..., Any]:
    what = f"T.{name}"

    def function(src: Any, pred: Any = None) -> Any:
        word = _word(_elements(what, src, bits))
        if pred is None:
            return word
        if isinstance(word, Vector):
            return Vector([select(pred, lane, cast(0, lane.dtype)) for lane in word.lanes])
        return select(pred, word, cast(0, "uint32"))

    return named(function, name, f"{bits} bits from {'shared memory' if shared else 'a tensor'}; zeros where `pred` is false.")


def _store(name: str, bits: int, shared: bool) -> Callable[..., None]:
    what = f"T.{name}"

    def function(dst: Any, value: Any, pred: Any = None) -> None:
        elements = _elements(what, dst, bits)
        lanes = lanes_of(value)
        if lanes is None:
            lanes = [reinterpret(value, elements[0].dtype) if isinstance(value, Val) and not is_number(value) else value]
        trace = kernel(what)
        if pred is not None:
            trace.native.if_begin(trace.condition(pred))
        store_lanes(elements, Vector(lanes))
        if pred is not None:
            trace.native.if_else()
            trace.native.if_end([], [])

    return named(function, name, f"{bits} bits to {'shared memory' if shared else 'a tensor'}; nothing where `pred` is false.")


ldg32, ldg64, ldg128, ldg256 = (_load(f"ldg{bits}", bits, False) for bits in (32, 64, 128, 256))
stg32, stg64, stg128, stg256 = (_store(f"stg{bits}", bits, False) for bits in (32, 64, 128, 256))
lds32, lds64, lds128 = (_load(f"lds{bits}", bits, True) for bits in (32, 64, 128))
sts32, sts64, sts128 = (_store(f"sts{bits}", bits, True) for bits in (32, 64, 128))
