"""A map from the index of an element to its place."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import error
from ...frontend.wording import counted
from ..tracing.dtypes import dtype
from ..tracing.shapes import shape_of
from ..tracing.values import Var, evaluate, substitute, variables


class Layout:
    """`Layout((8, 64), lambda i, j: [i, j ^ (i % 8)])`. `input_shape`; `index`: the places as expressions of `variables`."""

    def __init__(self, shape: Sequence[int] | int, forward_fn: Callable[..., Any]) -> None:
        self.input_shape = shape_of(shape)
        self.variables = tuple(Var(f"i{dim}", dtype("int32")) for dim in range(len(self.input_shape)))
        places = forward_fn(*self.variables)
        self.index = list(places) if isinstance(places, (list, tuple)) else [places]

    def get_input_shape(self) -> tuple[Any, ...]:
        return self.input_shape

    def map_forward_index(self, indices: Sequence[Any]) -> list[Any]:
        """The place of the element at these indices (numbers or sizes)."""
        if len(indices) != len(self.input_shape):
            raise error(
                ValueError, f"a layout of {counted(len(self.input_shape), 'dimension')} takes as many indices, got {len(indices)}"
            )
        known = {var.uid: index for var, index in zip(self.variables, indices)}
        return [substitute(place, known) for place in self.index]

    def places(self, indices: Sequence[Any]) -> list[Any]:
        """The places of many elements: arrays of indices give arrays."""
        known = self._known(indices)
        return [evaluate(place, known) for place in self.index]

    def _known(self, indices: Sequence[Any]) -> dict[int, Any]:
        return {var.uid: column for var, column in zip(self.variables, indices)}

    def dimensions_of(self, place: Any) -> set[int]:
        """The dimensions whose index one of the places hangs on."""
        named = variables(place)
        return {dim for dim, var in enumerate(self.variables) if var.uid in named}

    def groups(self) -> Iterator[tuple[list[int], list[int]]]:
        """(dimensions, numbers of places) that hang on each other, and on no others: a layout is as many maps side by side."""
        of = [self.dimensions_of(place) for place in self.index]
        left = set(range(len(self.input_shape)))
        while left:
            group = {min(left)}
            while more := set().union(*(dims for dims in of if dims & group)) - group:
                group |= more
            left -= group
            yield sorted(group), [number for number, dims in enumerate(of) if dims & group]

    def grid(self, dimensions: Sequence[int]) -> list[Any]:
        """The indices of the elements that differ in these dimensions, as flat arrays; the others are 0."""
        import numpy as np

        columns = iter(np.indices([self.input_shape[dim] for dim in dimensions]).reshape(len(dimensions), -1))
        return [next(columns) if dim in dimensions else 0 for dim in range(len(self.input_shape))]

    def is_identity(self) -> bool:
        """Does every element lie where it would without a layout? The shape must be known."""
        import numpy as np

        if len(self.index) != len(self.input_shape):
            return False
        for dim, place in enumerate(self.index):
            indices = self.grid(sorted(self.dimensions_of(place) | {dim}))
            if not np.all(evaluate(place, self._known(indices)) == indices[dim]):
                return False
        return True

    def is_equal(self, other: Layout) -> bool:
        """Do both put every element at the same place? Shapes must be known."""
        if self.input_shape != other.input_shape:
            return False
        return all(self.map_forward_index(element) == other.map_forward_index(element) for element in self.elements())

    def elements(self) -> Iterator[tuple[int, ...]]:
        """The indices of all elements; the shape must be known."""
        return itertools.product(*map(range, self.input_shape))

    def get_output_shape(self) -> tuple[int, ...]:
        """One more than the greatest place in each dimension; the shape must be known."""
        import numpy as np

        grids = [self._known(self.grid(sorted(self.dimensions_of(place)))) for place in self.index]
        return tuple(1 + int(np.max(evaluate(place, known))) for place, known in zip(self.index, grids))

    def get_forward_index(self) -> list[Any]:
        return self.index

    def get_forward_vars(self) -> tuple[Var, ...]:
        return self.variables

    def __repr__(self) -> str:
        return f"Layout({self.input_shape} -> {self.index})"
