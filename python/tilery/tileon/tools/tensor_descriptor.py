"""Tensor descriptors made by the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import error
from ...frontend.wording import counted


@dataclass
class TensorDescriptor:
    """A tensor with the shape of the blocks in which kernels read and write it.

    :param base: a tensor whose address divides by 16.
    :param shape: of the tensor.
    :param strides: in elements; the last one is 1, the others are multiples of 16 bytes.
    :param block_shape: one size a dimension.
    :param padding: "zero" or "nan": what lies outside the tensor reads as.
    :raises AssertionError: a copy engine could not take it.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"

    __tile_structure__ = True

    def __post_init__(self) -> None:
        rank, width = len(self.shape), self.base.dtype.itemsize
        _check(rank > 0, "a tensor descriptor needs at least one dimension")
        _check(len(self.strides) == rank, f"a tensor descriptor of rank {rank} has {counted(len(self.strides), 'stride')}")
        sizes = len(self.block_shape)
        _check(sizes == rank, f"a tensor descriptor of rank {rank} has a block_shape of {counted(sizes, 'size')}")
        _check(self.base.data_ptr() % 16 == 0, "the base of a tensor descriptor must be 16-byte aligned")
        _check(self.strides[-1] == 1, "the last dimension of a tensor descriptor must be contiguous")
        _check(
            all(stride * width % 16 == 0 for stride in self.strides[:-1]),
            f"strides of a tensor descriptor must be multiples of 16 bytes, got {list(self.strides)} elements of {width} bytes",
        )
        _check(self.padding in ("zero", "nan"), f"padding must be 'zero' or 'nan', got {self.padding!r}")
        _check(self.padding != "nan" or self.base.dtype.is_floating_point, "padding 'nan' needs floats")

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Sequence[int], padding: str = "zero") -> TensorDescriptor:
        """The descriptor of a whole tensor."""
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, padding)


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise error(AssertionError, message)
