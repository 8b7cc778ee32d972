"""Tuples, lists and dataclasses seen as trees of leaves, so that a name that holds one can be merged and carried."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

Number = bool | int | float


class Undefined:
    """What a name holds while it has no usable value; `reason` and `place` say why."""

    def __init__(
        self,
        name: str,
        reason: str | None = None,
        place: int | None = None,
        hint: str | None = None,
        kind: type[Exception] = NameError,
    ) -> None:
        self.name, self.reason, self.place, self.hint, self.kind = name, reason, place, hint, kind

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


class Mismatch(Exception):
    """Two values of a name that cannot become one."""


def is_number(value: Any) -> TypeGuard[Number]:
    return isinstance(value, (bool, int, float)) and type(value) in (bool, int, float)


def children(value: Any) -> list[Any] | None:
    """The parts of a container, or None for a leaf."""
    if isinstance(value, (tuple, list)):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in dataclasses.fields(value)]
    fields = getattr(type(value), "__tile_fields__", None)
    return None if fields is None else [getattr(value, name) for name in fields]


def with_children(value: Any, parts: Sequence[Any]) -> Any:
    """The same container with other parts."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*parts)
    if isinstance(value, (tuple, list)):
        return type(value)(parts)
    new = object.__new__(type(value))
    new.__dict__.update(getattr(value, "__dict__", {}))
    fields = getattr(type(value), "__tile_fields__", None) or [f.name for f in dataclasses.fields(value)]
    for name, part in zip(fields, parts):
        object.__setattr__(new, name, part)
    return new


def leaves_of(value: Any) -> list[Any]:
    parts = children(value)
    return [value] if parts is None else [leaf for p in parts for leaf in leaves_of(p)]


def map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    parts = children(value)
    if parts is None:
        return function(value)
    new = [map_leaves(function, p) for p in parts]
    return value if all(a is b for a, b in zip(new, parts)) else with_children(value, new)


class Leaf:
    """Place of a leaf in the list of values that a region returns."""

    def __init__(self, index: int) -> None:
        self.index = index


def pair(is_value: Callable[[Any], bool], a: Any, b: Any, leaves: list[tuple[Any, Any]]) -> Any:
    """The tree that both values share, with a Leaf where they differ; the differing pairs are appended to `leaves`."""
    if a is b:
        return a
    if is_number(a) and is_number(b) and type(a) is type(b) and (a == b or (a != a and b != b)):
        return a
    if (is_value(a) or is_number(a)) and (is_value(b) or is_number(b)):
        leaves.append((a, b))
        return Leaf(len(leaves) - 1)
    left, right = children(a), children(b)
    if left is not None and right is not None and type(a) is type(b):
        if len(left) != len(right):
            raise Mismatch(None)
        return with_children(a, [pair(is_value, x, y, leaves) for x, y in zip(left, right)])
    if left is None and right is None and not is_value(a) and not is_value(b) and type(a) is type(b):
        try:
            if bool(a == b):
                return a
        except Exception:
            pass
    raise Mismatch(None)


def fill(plan: Any, values: Sequence[Any]) -> Any:
    """A tree with its Leaf places replaced by values."""
    return map_leaves(lambda x: values[x.index] if isinstance(x, Leaf) else x, plan)
