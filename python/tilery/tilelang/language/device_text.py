"""Device functions that programs bring as text of CUDA C++ (T.import_source, `-include`): those that load, store, fetch ahead or
compute by single instructions are what they say, on every target; hints to caches fall away. Others are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilery import _native

from ...errors import error
from ..tracing.context import kernel
from ..tracing.dtypes import dtype as element_type
from ..tracing.values import Val, cast, read
from . import device_functions
from .pointer import Pointer


def functions_of(text: str) -> dict[str, Any]:
    """The device functions of a text, by their names with their namespaces."""
    return {function.name: function for function in _native.read_cuda(text)}


def call(function: Any, dtype: Any, arguments: Sequence[Any]) -> Any:
    """What the function computes of numbers and addresses, in the type that the program names."""
    given = [(a, a.element.dtype.storage) if isinstance(a, Pointer) else read(a) for a in arguments]
    wanted = None if str(dtype) == "handle" else element_type(dtype).element.storage
    result = kernel("T.call_extern").native.call_cuda(function, given, wanted, _load, _store, _call)
    return None if result is None or wanted is None else cast(Val(result), dtype)


def _elements(pointer: Pointer, count: int) -> list[Any]:
    memory = pointer.element.memory
    if memory.coded:
        raise error(NotImplementedError, f"text of CUDA does not reach `{memory.label()}`, whose type is {memory.dtype}")
    return pointer.element.neighbours(count)


def _load(pointer: Pointer, count: int) -> list[Any]:
    return [element.read() for element in _elements(pointer, count)]


def _store(pointer: Pointer, values: Sequence[Any]) -> None:
    for element, value in zip(_elements(pointer, len(values)), values):
        element.store(Val(value))


def _call(name: str, operands: Sequence[Any]) -> Any:
    """A function of CUDA's own; None: there is none of that name."""
    values = [Val(operand) for operand in operands]
    if name == "__shfl_sync" and len(values) == 3:
        from .warp import shfl_sync

        return shfl_sync(values[1], values[2])
    function = device_functions.find(name)
    return function and function(*values)
