"""A map from the index of an element to its place."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype
from ..tracing.shapes import shape_of
from ..tracing.values import Var, evaluate, substitute


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
            raise error(ValueError, f"a layout of {len(self.input_shape)} dimensions takes as many indices, got {len(indices)}")
        known = {var.uid: index for var, index in zip(self.variables, indices)}
        return [substitute(place, known) for place in self.index]

    def places(self, indices: Sequence[Any]) -> list[Any]:
        """The places of many elements: arrays of indices give arrays."""
        known = {var.uid: column for var, column in zip(self.variables, indices)}
        return [evaluate(place, known) for place in self.index]

    def is_identity(self) -> bool:
        """Does every element lie where it would without a layout? The shape must be known."""
        import numpy as np

        indices = np.indices(self.input_shape)
        return len(self.index) == len(indices) and all(
            np.array_equal(np.broadcast_to(place, own.shape), own) for place, own in zip(self.places(list(indices)), indices)
        )

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

        return tuple(1 + int(np.max(place)) for place in self.places(list(np.indices(self.input_shape))))

    def get_forward_index(self) -> list[Any]:
        return self.index

    def get_forward_vars(self) -> tuple[Var, ...]:
        return self.variables

    def __repr__(self) -> str:
        return f"Layout({self.input_shape} -> {self.index})"
