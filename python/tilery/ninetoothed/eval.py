"""Arrangements with numbers: the elements each program gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilery._native.arrange import Symbol, Tensor


def subs(tensor: Tensor, values: Mapping[Any, Any] | None) -> Tensor:
    """Replaces sizes and symbols.

    :param values: maps a source tensor to ``{"shape": (...)}`` or to another tensor, and a symbol to its value.
    """
    named = {}
    for key, value in (values or {}).items():
        if isinstance(key, Tensor):
            shape = value.shape if isinstance(value, Tensor) else value["shape"]
            for size, given in zip(key.source.shape, shape, strict=True):
                if size.constant is None:
                    named[repr(size)] = Symbol(given)
        else:
            named[repr(Symbol(key))] = Symbol(value)

    return tensor.substitute(named)


def eval(tensor: Tensor, values: Mapping[Any, Any] | None = None) -> Any:
    """The linear offset into a contiguous source of every element, -1 where there is none.

    The result is an array whose dimensions are those of all levels, outermost first.
    """
    return subs(tensor, values).table()
