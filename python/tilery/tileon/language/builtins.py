"""Names of upstream's `core` beside functions and types: what functions ask that are written in terms of the language's own."""

from __future__ import annotations

from typing import Any

from ...core.tile import types
from ...core.tile.aggregate import aggregate as aggregate
from ...core.tile.extern import TRITON_BUILTIN
from ...core.tile.types import unwrap
from ...core.tile.value import tensor
from ...core.tile.window import tensor_descriptor as tensor_descriptor
from ..runtime.jit import constexpr_function as constexpr_function
from ..runtime.jit import must_use_result as must_use_result

TRITON_MAX_TENSOR_NUMEL = 1048576
tuple_, slice_ = tuple, slice
tensor_descriptor_base = tensor_descriptor_type = tensor_descriptor
base_value, base_type = tensor, types.dtype
const_type = types.pointer_type


def is_builtin(fn: Any) -> bool:
    """Is this a function of the language?"""
    module = getattr(fn, "__module__", "") or ""
    return getattr(fn, TRITON_BUILTIN, False) is True or module.startswith("tilery.")


def _unwrap_if_constexpr(o: Any) -> Any:
    """The value of a constexpr; lists and tuples with the values of theirs; anything else as it is."""
    if isinstance(o, (list, tuple)) and not hasattr(o, "_fields"):
        return type(o)(_unwrap_if_constexpr(x) for x in o)
    return unwrap(o)


def _unwrap_shape(shape: Any) -> list[Any]:
    return [unwrap(size) for size in unwrap(shape)]


def _unwrap_iterable(x: Any) -> Any:
    """f(1, 2) and f((1, 2)) mean the same: the one tuple that was given, or all that was given."""
    return x[0] if len(x) == 1 and isinstance(unwrap(x[0]), (list, tuple)) else x


def get_int_dtype(bitwidth: int, signed: bool) -> types.dtype:
    """The integer type of so many bits."""
    bitwidth, signed = unwrap(bitwidth), unwrap(signed)
    return types.dtype("int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}")


def find(name: str) -> Any:
    """What `core` offers of these names; None: nothing."""
    return globals().get({"tuple": "tuple_", "slice": "slice_"}.get(name, name))
