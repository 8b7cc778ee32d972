"""Arguments that are flattened first: which of their dimensions are one in memory, and whether tiles stay within a row of them.

A flattened index is divided into those of the dimensions, lane by lane, unless they are one dimension, or every tile lies in one
row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilery import _native
from tilery._native.arrange import Symbol, Tensor

Groups = tuple[tuple[tuple[int, ...], int | None], ...]


class Flattened:
    """How the dimensions of an argument's source are seen.

    :param groups: ((dimensions that are one, the one of them that has their stride; None: a stride of 0), ...).
    :param tile: elements of a tile, which divide the last dimension that is flattened; 0: that is not so.
    """

    def __init__(self, tensor: Tensor, groups: Groups, tile: int) -> None:
        self.key = groups, tile
        self._row = _row(tensor, groups)
        self._tiles = Symbol(f"ninetoothed_{tensor.source.name}_tiles_in_a_row")
        self.tensor = tensor.merged([dims for dims, _ in groups], self._tiles * tile if tile else None)

    def sizes(
        self, native: _native.Builder, extents: Sequence[Any], strides: Sequence[Any], environment: dict[str, Any]
    ) -> tuple[list[Any], list[Any]]:
        """Those of the dimensions as they are seen, from the source's."""
        groups, tile = self.key
        seen = []
        for dims, _ in groups:
            size = extents[dims[0]]
            for d in dims[1:]:
                size = native.binary("*", size, extents[d])
            seen.append(size)
        if tile:
            environment[repr(self._tiles)] = native.binary("truncdiv", seen[self._row], native.constant(tile, "int64"))

        return seen, [native.constant(0, "int64") if d is None else strides[d] for _, d in groups]


def seen_as(
    tensor: Tensor, shape: Sequence[int], strides: Sequence[int] | None, values: Mapping[str, Symbol]
) -> tuple[Groups, int] | None:
    """`groups` and `tile` of an argument of a call; None if nothing is to be gained.

    :param values: numbers for symbols.
    """
    found = tensor.flattening()
    if found is None or strides is None:
        return None
    dims, start, end = found
    runs: list[tuple[tuple[int, ...], int]] = [((d,), d) for d in dims[:start]]
    runs += _merged(dims[start:end], shape, strides)
    runs += [((d,), d) for d in dims[end:]]
    groups = tuple((run, d if strides[d] else None) for run, d in runs)
    tile, flat = 0, len(groups) - start - (len(dims) - end)
    if flat > 1:
        row = 1
        for d in groups[start + flat - 1][0]:
            row *= shape[d]
        inner = tensor.substitute(dict(values)).innermost().sizes if tensor.levels > 1 else ()
        size = inner[-1].simplified().constant if inner else None
        tile = size if size and row % size == 0 else 0
    if len(groups) == len(dims) and not tile and all(strides):
        return None

    return groups, tile


def _merged(dims: Sequence[int], shape: Sequence[int], strides: Sequence[int]) -> list[tuple[tuple[int, ...], int]]:
    """Runs of dimensions, each of them one dimension of one stride."""
    groups: list[tuple[tuple[int, ...], int]] = []
    size = 1
    for d in reversed(dims):
        if groups and (shape[d] == 1 or size == 1 or strides[d] == strides[groups[0][1]] * size):
            stride = d if size == 1 else groups[0][1]
            groups[0] = (d, *groups[0][0]), stride
            size *= shape[d]
        else:
            groups.insert(0, ((d,), d))
            size = shape[d]

    return groups


def _row(tensor: Tensor, groups: Groups) -> int:
    """The group that is flattened last."""
    dims, _, end = tensor.flattening()

    return len(groups) - (len(dims) - end) - 1
