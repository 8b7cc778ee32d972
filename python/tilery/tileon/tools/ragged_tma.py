"""Descriptors of tensors that are cut along one dimension into slices of any sizes: a block reads and writes its slice alone.

Such a descriptor has two dimensions more. Where the slice ends, the index in the dimension that is cut is 2^30, which is its
extent, so that what lies behind is outside; the two dimensions in front, whose bounds nothing reaches, move the address back by
as much: addresses of 64 bits wrap, and 2^30 steps of 2^34 elements are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import error
from ...frontend.wording import counted
from .. import language as tl
from ..runtime.jit import jit
from .tensor_descriptor import TensorDescriptor

_END = 1 << 30
_BOUNDLESS = 0x7FFF0000


def create_ragged_descriptor(T: Any, block_shape: Sequence[int], ragged_dim: int = 0) -> TensorDescriptor:
    """The descriptor of a tensor of two or three dimensions for `load_ragged`, `store_ragged` and `atomic_add_ragged`.

    :param block_shape: of the blocks, one size a dimension of the tensor.
    :param ragged_dim: the dimension that is cut; not the last one."""
    rank = T.dim()
    dim = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    if not 0 <= dim < rank - 1:
        raise error(AssertionError, f"the last dimension cannot be ragged: ragged_dim is {ragged_dim} of {rank}")
    if rank > 3:
        raise error(AssertionError, f"a ragged descriptor has at most 3 dimensions, the tensor has {rank}")
    if len(block_shape) != rank:
        raise error(
            AssertionError, f"block_shape has {counted(len(block_shape), 'size')}, the tensor {counted(rank, 'dimension')}"
        )
    if T.shape[dim] > _END:
        raise error(AssertionError, f"a ragged dimension has at most 2^30 rows, got {T.shape[dim]}")
    step = T.stride(dim)
    shape = [_BOUNDLESS, _BOUNDLESS, *T.shape[:dim], _END, *T.shape[dim + 1 :]]
    return TensorDescriptor(T, shape, [(1 << 34) - step, step, *T.stride()], [1, 1, *block_shape])


@jit
def to_ragged_indices(slice_off, slice_size, row):
    """The three indices of a row of a slice: those of the two dimensions in front, and of the one that is cut."""
    end: tl.constexpr = 1 << 30
    return end, slice_off + slice_size, end - slice_size + row


@jit
def _indices(descriptor, slice_off, slice_size, coords, ragged_dim: tl.constexpr):
    tl.static_assert(
        len(descriptor.shape) == len(coords) + 2, "a ragged descriptor takes an index for each dimension of its tensor"
    )
    back, end, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    return [back, end] + list(coords[:ragged_dim]) + [row] + list(coords[ragged_dim + 1 :])


@jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """The block at `coords` of the slice of `slice_size` rows from row `slice_off` on; behind the slice it is 0."""
    block = TMA.load(_indices(TMA, slice_off, slice_size, coords, ragged_dim))
    return tl.reshape(block, block.shape[2:])


@jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Writes the block at `coords` of a slice, as far as it lies in it."""
    TMA.store(_indices(TMA, slice_off, slice_size, coords, ragged_dim), tl.reshape(data, [1, 1] + data.shape))


@jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds to the block at `coords` of a slice, as far as it lies in it, element by element."""
    TMA.atomic_add(_indices(TMA, slice_off, slice_size, coords, ragged_dim), tl.reshape(data, [1, 1] + data.shape))
