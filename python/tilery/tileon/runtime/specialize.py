"""What launches tell of their arguments, in the words of upstream's signatures."""

from __future__ import annotations

from typing import Any

from ...core.tile import types
from .._utils import canonicalize_ptr_dtype
from ..tools.tensor_descriptor import TensorDescriptor
from .callable import JITCallable


def specialize_impl(backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool) -> tuple[Any, Any]:
    """(type of a signature, what is known of the value: "D" of what divides by 16, the value of a constexpr)

    :raises TypeError: no kernel takes such an argument."""
    if arg is None:
        return "constexpr", None
    if isinstance(arg, JITCallable):
        return "constexpr", arg.cache_key
    if isinstance(arg, types.constexpr):
        return "constexpr", arg
    if isinstance(arg, bool):
        return "u1", None
    if isinstance(arg, int):
        if specialize_value and arg == 1:
            return "constexpr", 1
        kind = "i32" if -(2**31) <= arg < 2**31 else "u64" if arg >= 2**63 else "i64"
        return kind, "D" if specialize_value and align and arg % 16 == 0 else "" if specialize_value else None
    if isinstance(arg, float):
        return "fp32", None
    if isinstance(arg, TensorDescriptor):
        return f"tensordesc<{canonicalize_ptr_dtype(arg.base.dtype, False)[1:]}{list(arg.block_shape)}>", None
    if hasattr(arg, "data_ptr"):
        known = "D" if specialize_value and align and arg.data_ptr() % 16 == 0 else "" if specialize_value else None
        return canonicalize_ptr_dtype(arg.dtype, is_const), known
    if isinstance(arg, tuple):
        parts = [specialize_impl(backend, a, is_const, specialize_value, align) for a in arg]
        make = type(arg)._make if hasattr(arg, "_fields") else tuple  # type: ignore[attr-defined]
        return make([p[0] for p in parts]), make([p[1] for p in parts])
    raise TypeError(f"Unsupported type: {type(arg)}")


def mangle_type(arg: Any, specialize: bool = False) -> str:
    """The type of an argument as a signature has it."""
    return specialize_impl(None, arg, False, specialize, specialize)[0]
