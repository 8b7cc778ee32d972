"""Functions that move elements: shapes, order, joining and picking."""

from __future__ import annotations

import math
from typing import Any

from ...errors import error
from ..ignored import ignore
from . import creation
from .types import int1, unwrap
from .value import Operand, int_of, member, native, plain, shape_of, tensor, to_tensor, tracer, wrap


def _spread(values: Any) -> Any:
    """f(x, 1, 2) and f(x, (1, 2)) mean the same."""
    if len(values) == 1:
        values = unwrap(values[0])
    return values if isinstance(values, (tuple, list)) else (values,)


def _axis(value: tensor, axis: Any, what: str) -> int:
    axis, rank = int_of(axis, f"{what}'s dimension"), len(value.handle.shape)
    if not -rank <= axis < rank:
        raise error(ValueError, f"{what}: dimension {axis} is outside a tile of shape {value.shape}")
    return axis % rank


@member
def broadcast_to(input: Operand, *shape: Any) -> tensor:
    """The tile repeated along dimensions of size 1 (and new ones on the left)."""
    return wrap(native().broadcast_to(to_tensor(input), shape_of(_spread(shape))))


def broadcast(input: Operand, other: Operand) -> tuple[tensor, tensor]:
    """Both tiles at their common shape."""
    a, b = native().broadcast(to_tensor(input), to_tensor(other))
    return wrap(a), wrap(b)


@member
def expand_dims(input: Operand, axis: Any) -> tensor:
    """New dimensions of size 1; an axis counts in the result."""
    input, axis = to_tensor(input), unwrap(axis)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(input.handle.shape) + len(axes)
    axes = [int_of(a, "expand_dims' axis") for a in axes]
    for a in axes:
        if not -rank <= a < rank:
            raise error(ValueError, f"invalid axis {a}. Expected {-rank} <= axis < {rank}")
    axes = sorted(a % rank for a in axes)
    if len(set(axes)) < len(axes):
        raise error(ValueError, f"expand_dims received duplicate axes, normalized axes = {axes}")
    for a in axes:
        input = wrap(native().expand_dims(input, a))
    return input


@member
def squeeze(input: tensor, dim: int) -> tensor:
    """The tile without a dimension of size 1."""
    axis = _axis(input, dim, "squeeze")
    if input.shape[axis] != 1:
        raise error(ValueError, f"squeeze: dimension {axis} of shape {input.shape} is not 1")
    return reshape(input, input.shape[:axis] + input.shape[axis + 1 :])


@member
def unsqueeze(input: tensor, dim: int) -> tensor:
    """A new dimension of size 1."""
    return expand_dims(input, dim)


@member
def reshape(input: Operand, *shape: Any, can_reorder: bool = False) -> tensor:
    """The elements in row-major order under another shape."""
    ignore("tl.reshape", can_reorder=unwrap(can_reorder))
    tile, sizes = to_tensor(input), shape_of(_spread(shape))
    if sizes.count(-1) == 1:
        rest = tile.numel // max(1, -math.prod(sizes))
        raise error(ValueError, f"no size of a tile is -1, got {sizes}", hint=f"write it out: here it is {rest}")
    return wrap(native().reshape(tile, sizes))


@member
def view(input: Operand, *shape: Any) -> tensor:
    """The elements in row-major order under another shape."""
    return reshape(input, *shape)


@member
def ravel(input: tensor, can_reorder: bool = False) -> tensor:
    """All elements in one dimension."""
    ignore("tl.ravel", can_reorder=unwrap(can_reorder))
    return reshape(input, [input.numel])


@member
def permute(input: tensor, *dims: Any) -> tensor:
    """The dimensions in another order."""
    return wrap(native().permute(input, [int_of(d, "permute's dimension") for d in _spread(dims)]))


@member
def trans(input: tensor, *dims: Any) -> tensor:
    """The last two dimensions exchanged, or the dimensions in the given order."""
    if dims:
        return permute(input, *dims)
    if len(input.handle.shape) < 2:
        raise error(ValueError, f"a transposition needs two dimensions, got shape {input.shape}")
    return input.T


@member
def transpose(input: tensor, *dims: Any) -> tensor:
    """The last two dimensions exchanged, or the dimensions in the given order."""
    return trans(input, *dims)


@member
def flip(x: tensor, dim: int | None = None) -> tensor:
    """The elements along a dimension (the last one) in reverse order."""
    axis = _axis(x, -1 if unwrap(dim) is None else dim, "flip")
    size, shape = x.shape[axis], [1] * len(x.shape)
    shape[axis] = size
    index = reshape(size - 1 - creation.arange(0, size), shape)
    return gather(x, broadcast_to(index, x.shape), axis)


def join(a: Operand, b: Operand) -> tensor:
    """Both tiles side by side in a new last dimension of size 2."""
    return wrap(native().join(to_tensor(a), to_tensor(b)))


@member
def split(a: tensor) -> tuple[tensor, tensor]:
    """The two halves of a last dimension of size 2."""
    x, y = native().split(a)
    return wrap(x), wrap(y)


def interleave(a: Operand, b: Operand) -> tensor:
    """The elements of both tiles in turn along the last dimension."""
    both = join(a, b)
    shape = both.shape
    return both if len(shape) == 1 else reshape(both, [*shape[:-2], 2 * shape[-2]])


def cat(input: tensor, other: tensor, can_reorder: Any = False, dim: int = 0) -> tensor:
    """Both tiles one after the other along a dimension."""
    dim, can_reorder = int_of(dim, "cat's dimension"), unwrap(can_reorder)
    if isinstance(can_reorder, int) and not isinstance(can_reorder, bool):
        dim = can_reorder  # Tileon's order of parameters: cat(input, other, dim)
    else:
        ignore("tl.cat", can_reorder=can_reorder)
    return wrap(native().cat(input, other, dim))


@member
def gather(src: tensor, index: tensor, axis: int) -> tensor:
    """result[i, j] = src[index[i, j], j] for axis 0."""
    axis = _axis(src, axis, "gather")
    return wrap(native().take(src, index, axis))


def where(condition: Operand, x: Operand, y: Operand) -> tensor:
    """x where the condition holds, y elsewhere; both are computed."""
    condition = unwrap(condition)
    if isinstance(condition, tensor) and not condition.dtype.is_bool():
        tracer().warn(f"tl.where takes a condition of type int1, this one is {condition.dtype}: not 0 counts as true")
        condition = creation.cast(condition, int1)
    return wrap(native().select(condition, plain(x), plain(y)))
