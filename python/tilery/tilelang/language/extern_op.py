"""Device functions that are called by name: CUDA's own and those of `tilelang.quantize`, which every target has."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ...frontend.wording import counted
from ..quantize.decoders import DECODERS
from ..tracing.context import current, kernel
from . import device_functions
from .pointer import Pointer

_NO_TEXT = (
    "text of another language cannot be compiled for every target; CUDA's own functions, what tilelang.quantize names and small "
    "functions of the program's own text can be called"
)


def import_source(source: str | None = None) -> None:
    """Takes the text that `tilelang.quantize.get_lop3_intrin_group` and its like give, and device functions in CUDA C++ for
    T.call_extern (language/device_text.py says which are understood)."""
    trace = current()
    if trace is None:
        raise error(RuntimeError, "T.import_source is used outside of a kernel")
    if source and source not in {decoder.source for decoder in DECODERS.values()}:
        from .device_text import functions_of

        found = functions_of(source)
        if not found:
            what = "T.import_source takes no program text but device functions: none is there"
            raise error(NotImplementedError, what, hint=_NO_TEXT)
        trace.device_texts.update(found)


def call_extern(*arguments: Any, dtype: Any = None) -> Any:
    """call_extern(type, name, numbers...): a device function of CUDA, as `__fdividef` or `tanhf`, or of text that the program
    brings. call_extern(name, source, destination, [scale], [zeros], [count], dtype=...) or with the type in front: unpacks
    `count` numbers (8 to float16 and bfloat16, 16 to int8) from the integers that begin at one address to those at the other."""
    kernel("T.call_extern")
    name, *rest = arguments if dtype is not None else arguments[1:]
    if isinstance(name, str) and device_functions.find(name) is not None:
        return device_functions.call(dtype if dtype is not None else arguments[0], name, rest)
    if isinstance(name, str) and (written := _written(name)) is not None:
        from . import device_text

        return device_text.call(written, dtype if dtype is not None else arguments[0], rest)
    decoder = DECODERS.get(name) if isinstance(name, str) else None
    if decoder is None:
        unknown = error(NotImplementedError, f"T.call_extern knows no function {name!r}", hint=_NO_TEXT)
        unknown.when_compiled = unknown.awaits_texts = not kernel("T.call_extern").arithmetic.texts
        raise unknown
    if len(rest) not in (2 + len(decoder.extras), 3 + len(decoder.extras)):
        wanted = ", ".join(("source", "destination", *decoder.extras, "[count]"))
        raise error(TypeError, f"{name} takes ({wanted}), got {counted(len(rest), 'argument')}")
    pointers, count = rest[: 2 + len(decoder.extras)], rest[2 + len(decoder.extras) :]
    for pointer in pointers:
        if not isinstance(pointer, Pointer):
            raise error(TypeError, f"{name} takes addresses, got {pointer!r}", hint="T.access_ptr and T.address_of give them")
    number = count[0] if count else decoder.count
    if not isinstance(number, int) or number <= 0:
        raise error(TypeError, f"{name} unpacks a fixed number of elements, got {number!r}")
    number *= decoder.results
    source, destination, *extras = pointers
    packed = source.element.neighbours(-(-number * decoder.bits // source.element.dtype.bits))
    values = [element.read() for element in packed]
    decoder.write(values, destination.element.neighbours(number), *(extra.element.read() for extra in extras))
    return None


def _written(name: str) -> Any:
    """The function of a name in the text that the program brings."""
    trace = kernel("T.call_extern")
    if trace.arithmetic.texts and "" not in trace.device_texts:
        from .device_text import functions_of

        trace.device_texts[""] = None  # the flags' are read
        for text in trace.arithmetic.texts:
            for found, function in functions_of(text).items():
                trace.device_texts.setdefault(found, function)
    return trace.device_texts.get(name)
