"""Maps between indices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...tracing.dtypes import dtype
from ...tracing.values import Var, substitute


class IndexMap:
    """`IndexMap.from_func(lambda i, j: [i // 16, j // 16, i % 16, j % 16])`."""

    def __init__(self, initial_indices: Sequence[Var], final_indices: Sequence[Any], inverse_index_map: Any = None) -> None:
        self.initial_indices, self.final_indices = list(initial_indices), list(final_indices)
        self.inverse_index_map = inverse_index_map

    @staticmethod
    def from_func(
        mapping_function: Callable[..., Any],
        ndim: int | None = None,
        inverse_index_map: Any = None,
        *,
        index_dtype: str = "int64",
    ) -> IndexMap:
        """The map that a function of indices computes; ndim: how many it takes, where it takes any number."""
        parameters = list(inspect.signature(mapping_function).parameters.values())
        names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
        if len(names) < len(parameters):
            names += [f"i{dim}" for dim in range(len(names), ndim or 0)]
        variables = [Var(name, dtype(index_dtype)) for name in names]
        places = mapping_function(*variables)
        return IndexMap(variables, places if isinstance(places, (list, tuple)) else [places], inverse_index_map)

    def map_indices(self, indices: Sequence[Any]) -> list[Any]:
        """The map of some indices (numbers or sizes)."""
        known = {var.uid: index for var, index in zip(self.initial_indices, indices)}
        return [substitute(place, known) for place in self.final_indices]

    def map_shape(self, shape: Sequence[int]) -> list[int]:
        """The extents of the map's image, of an index that grows with each of its own."""
        return [last + 1 for last in self.map_indices([size - 1 for size in shape])]
