"""Updates of memory that other programs or iterations update, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilery import _native

from ...core.ignored import ignore
from ...core.names import named
from ...errors import error
from ..tracing.context import kernel
from ..tracing.layouts import each_element, is_laid_out
from ..tracing.memory import Element, LocalVar, Memory, Region, as_stored, native_region, neighbours
from ..tracing.thread_index import ThreadNumber
from ..tracing.values import Expr, Val, binary, cast, is_number, read
from ..tracing.vectors import Vector

_ORDERS = {
    None: "relaxed",
    "relaxed": "relaxed",
    "consume": "acquire",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}
# What a load and a store may ask for.
_LOADS = ("relaxed", "consume", "acquire", "seq_cst")
_STORES = ("relaxed", "release", "seq_cst")
_COMBINE = {"add": "+", "max": "max", "min": "min", "or": "|", "and": "&", "xor": "^"}


def _order(memory_order: str | None) -> str:
    if memory_order not in _ORDERS:
        raise error(ValueError, f"unknown memory order {memory_order!r}", hint="known: " + ", ".join(filter(None, _ORDERS)))
    return _ORDERS[memory_order]


def update(kind: str, dst: Element, value: Any, order: str) -> Val:
    """Updates one element; what was there. On a side of a condition it is made where that side is taken, else 0 was there."""
    trace = kernel(f"T.atomic_{kind}")
    return trace.where_chosen(lambda: _update(trace, kind, dst, value, order))


def _update(trace: Any, kind: str, dst: Element, value: Any, order: str) -> Val:
    """Iterations of a parallel loop share the buffers of a program."""
    dst = dst.located(trace)
    memory = dst.memory
    trace.ask_for_threads()
    memory.check_access("store to")
    if isinstance(value, Element):
        value = value.read()
    native = trace.native
    if memory.is_global:
        return Val(native.atomic_place(kind, dst.place(trace), native.cast(value, memory.dtype.storage), order, "gpu"))
    if trace.parallel or (native.in_threads() and memory.scope_name.startswith("shared")):
        trace.check_private(dst)
        return Val(native.element_update(kind, memory.native, dst.indices, native.cast(value, memory.dtype.storage)))
    old = dst.read()
    dst.store(value if kind == "exchange" else binary(_COMBINE[kind], old, Val(as_stored(value, memory))))
    return old


def update_by_all(kind: str, dst: Element, value: Any, order: str, asks: bool) -> Val:
    """Updates one element, each thread that is here for itself; what was there, where the program asks for it: each thread sees
    another old value. Other updates than additions change nothing when they are done again."""
    trace = kernel(f"T.atomic_{kind}")
    memory, count = dst.memory, trace.repeated()
    if count > 1 and (memory.is_global or memory.scope_name.startswith("shared")):
        if asks:
            trace.begin_single()
        elif kind == "add" and memory.dtype.bits >= 16:  # update() refuses narrower ones
            value = binary("*", cast(read(value), memory.dtype), count)
    return update(kind, dst, value, order)


def _only_element(side: Any) -> Element | None:
    """The element of a buffer or slice that has one."""
    if isinstance(side, Memory):
        side = side.whole()
    if isinstance(side, Region):
        return Element(side.memory, side.starts) if all(isinstance(n, int) and n == 1 for n in side.extents) else None
    return side if isinstance(side, Element) else None


def _of_each_thread(trace: Any, dst: Any, value: Any) -> tuple[Element, Any] | None:
    """(element, number) of an update that each thread makes for itself: of one element, where the place or the number depends on
    the thread. Other updates of buffers and slices are what the block does once."""
    place, given = _only_element(dst), _only_element(value) if isinstance(value, Region) else value
    if place is None or not (is_number(given) or isinstance(given, Expr)):
        return None
    for part in (*place.indices, *(given.indices if isinstance(given, Element) else (given,))):
        if isinstance(part, ThreadNumber):
            part.number()  # from here on code is for single threads
    if trace.open.thread is None:
        return None
    given = read(given)
    if any(isinstance(part, Val) and _native.varies_by_thread(part) for part in (*place.indices, given)):
        return place, given
    return None


def _atomic(kind: str) -> Callable[..., Val | None]:
    def function(
        dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False, use_tma: bool = False
    ) -> Val | None:
        trace = kernel(f"T.atomic_{kind}")
        if use_tma:
            trace.notes.setdefault("gpu_only", []).append(f"T.atomic_{kind}(use_tma=True)")
        ignore(f"T.atomic_{kind}", use_tma=use_tma)
        order = _order(memory_order)
        if is_number(dst) or isinstance(dst, Val):
            hint = "write the element itself; a name that is given one holds the number that was there"
            raise error(TypeError, f"T.atomic_{kind} changes an element or a buffer, and this is a number", hint=hint)
        if isinstance(dst, LocalVar):
            dst = Element(dst.memory, [0])
        if isinstance(dst, Element) and (isinstance(value, Expr) or is_number(value)):
            old = update_by_all(kind, dst, value, order, return_prev)
            return trace.asked(old) if return_prev else None
        if return_prev:
            raise error(NotImplementedError, "return_prev needs a single element as destination")
        trace.check_tile_op(f"T.atomic_{kind}")
        if (own := _of_each_thread(trace, dst, value)) is not None:
            update(kind, *own, order)
            return None
        if is_laid_out(trace, dst) or is_laid_out(trace, value):
            each_element(value, dst, "an atomic update", lambda place, given: update(kind, place, given, order))
            return None
        source = (
            value
            if isinstance(value, Expr) and not isinstance(value, Element) or is_number(value)
            else native_region(trace, value, "an atomic update", reads=True)
        )
        _native.atomic_region(trace.native, kind, native_region(trace, dst, "an atomic update"), source, order)
        return None

    return named(function, f"atomic_{kind}", f"Indivisible {kind} of value (a number, an element or a buffer) into dst.")


atomic_add, atomic_max, atomic_min = _atomic("add"), _atomic("max"), _atomic("min")


def atomic_or(dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False) -> Val | None:
    """Indivisible bitwise or of value into an element of integers."""
    if not isinstance(dst, (Element, LocalVar)):
        raise error(NotImplementedError, "T.atomic_or takes one element", hint="use a T.Parallel loop over a region")
    if "int" not in dst.dtype:
        raise error(NotImplementedError, f"T.atomic_or takes integers, not {dst.dtype}")
    place = dst if isinstance(dst, Element) else Element(dst.memory, [0])
    old = update_by_all("or", place, value, _order(memory_order), return_prev)
    return kernel("T.atomic_or").asked(old) if return_prev else None


def _elements(place: Any, count: int, what: str) -> list[Any]:
    """The elements that a vector form names: a slice or a vector of so many, or the first of them."""
    found = list(place.lanes) if isinstance(place, Vector) else neighbours(place, count)
    if found is not None:
        if len(found) != count:
            hint = f"slice as many: dst[i:i + {count}]"
            raise error(ValueError, f"{what} takes {count} elements, got {len(found)}", hint=hint)
        return found
    if is_number(place) or isinstance(place, Expr):
        return [place] * count
    raise error(TypeError, f"{what} takes elements or slices, got {place!r}")


def _vector(count: int) -> Callable[..., Vector | None]:
    def function(dst: Any, value: Any, return_prev: bool = False) -> Vector | None:
        what = f"T.atomic_addx{count}"
        trace = kernel(what)
        if return_prev:
            trace.notes.setdefault("gpu_only", []).append(f"{what}(return_prev=True)")
        values = [read(v) for v in _elements(value, count, what)]
        places = _elements(dst, count, what)
        old = Vector([update_by_all("add", place, v, "relaxed", return_prev) for place, v in zip(places, values)])
        return old if return_prev else None

    return named(function, f"atomic_addx{count}", f"Adds {count} neighbours to {count} others; each addition is indivisible.")


atomic_addx2, atomic_addx4 = _vector(2), _vector(4)


def atomic_load(src: Any, memory_order: str = "seq_cst") -> Val:
    """An element, read indivisibly."""
    if memory_order not in _LOADS:
        raise error(
            ValueError, f"atomic_load does not support memory_order {memory_order!r}", hint="it takes " + ", ".join(_LOADS)
        )
    if not isinstance(src, Element):
        raise error(TypeError, f"T.atomic_load takes an element, got {src!r}")
    trace = kernel("T.atomic_load")
    src = src.located(trace)
    if not src.memory.is_global:
        return src.read()
    return Val(trace.native.load_place(src.place(trace), None, True))


def atomic_store(dst: Any, value: Any, memory_order: str = "seq_cst") -> None:
    """Writes an element indivisibly."""
    if memory_order not in _STORES:
        raise error(
            ValueError, f"atomic_store does not support memory_order {memory_order!r}", hint="it takes " + ", ".join(_STORES)
        )
    if not isinstance(dst, Element):
        raise error(TypeError, f"T.atomic_store takes an element, got {dst!r}")
    if dst.memory.is_global and _updatable(dst.dtype):
        update("exchange", dst, value, _ORDERS[memory_order])
    else:
        dst.store(value)


def _updatable(element: Any) -> bool:
    """Types that one instruction exchanges; narrower elements are read and written whole anyway."""
    return bool(element.bits >= 32)
