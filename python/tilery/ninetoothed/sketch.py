"""A kernel's arrangement with small numbers, so that it can be drawn whatever the sizes of a call are."""

from __future__ import annotations

from collections.abc import Sequence

from tilery._native.arrange import Symbol, Tensor

from ..errors import Error
from .visualization import visualize_arrangement

_SIZES = (4, 6, 1)  # of tensors; those that arrangements take are tried in turn
_BLOCK = 2
_MOST = 150  # elements of a tensor that can still be read


def sketch(tensors: Sequence[Tensor]) -> str:
    """What each program gets, as SVG, with tiles of 2 and tensors of 4 elements along each dimension, or other small numbers
    that the arrangement takes; empty: it takes none, or has rows of different lengths."""
    if any(tensor.jagged_dim is not None for tensor in tensors):
        return ""
    names = {repr(name): name for tensor in tensors for name in (*tensor.names(), *_names_of(tensor.source.sizes))}
    for size in _SIZES:
        numbers = {text: Symbol(_BLOCK if name.constexpr and "_size_" not in text else size) for text, name in names.items()}
        small = tuple(tensor.substitute(numbers) for tensor in tensors if tensor.source.ndim and not tensor.constexpr)
        try:
            if small and all(0 < tensor.table().size <= _MOST for tensor in small):
                return visualize_arrangement(lambda *given: given, small).svg
        except Error:  # not with these numbers
            continue
    return ""


def _names_of(sizes: Sequence[Symbol]) -> list[Symbol]:
    return [name for size in sizes for name in size.names()]
