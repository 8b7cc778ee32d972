"""Arrangements with numbers: the elements each program gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilery._native.arrange import Symbol, Tensor


def subs(tensor: Tensor, values: Mapping[Any, Any] | None) -> Tensor:
    """Replaces sizes and symbols.

    :param values: maps a source tensor to ``{"shape": (...)}`` or to another tensor, and a symbol to its value. A jagged tensor's
        shape has the lengths of its rows in the jagged dimension: ``(3, (2, 5, 1), 4)``.
    """
    named: dict[str, Symbol] = {}
    lengths: dict[str, Sequence[int]] = {}
    for key, value in (values or {}).items():
        if isinstance(key, Tensor):
            shape = value.shape if isinstance(value, Tensor) else value["shape"]
            for size, given in zip(key.source.sizes, shape, strict=True):
                if size.is_row_length:
                    lengths[repr(size)] = given
                elif size.constant is None:
                    named[repr(size)] = Symbol(given)
        else:
            named[repr(Symbol(key))] = Symbol(value)

    # Whatever else speaks of a jagged tensor's rows means the longest; the tensor itself knows each.
    own = tensor.jagged_dim is not None and repr(tensor.source.sizes[tensor.jagged_dim])
    named.update({name: Symbol(max(rows, default=0)) for name, rows in lengths.items() if name != own})
    replaced = tensor.substitute(named)

    return replaced.with_row_lengths(list(lengths[own])) if own in lengths else replaced


def eval(tensor: Tensor, values: Mapping[Any, Any] | None = None) -> Any:
    """The linear offset into a contiguous source of every element, -1 where there is none.

    The result is an array whose dimensions are those of all levels, outermost first.
    """
    return subs(tensor, values).table()
