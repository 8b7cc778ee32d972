"""Functions of tl.math that are written out; the others are rows of the table of functions.

Hosts call cdiv before anything is traced: what only kernels need is imported where it is used."""

from __future__ import annotations

from typing import Any

from .types import unwrap
from .value import member, tensor


@member
def softmax(x: tensor, dim: int | None = None, keep_dims: bool = False, ieee_rounding: bool = False) -> tensor:
    """exp(x - max) over its sum, along a dimension (0 by default)."""
    from ..ignored import ignore
    from . import elementwise, reduction

    ignore("tl.softmax", keep_dims=unwrap(keep_dims))
    axis = 0 if unwrap(dim) is None else dim
    numerator = elementwise.exp(x - reduction.max(x, axis, keep_dims=True))
    return elementwise.fdiv(numerator, reduction.sum(numerator, axis, keep_dims=True), ieee_rounding)


@member
def cdiv(x: Any, div: Any) -> Any:
    """x / div rounded up; of host ints too."""
    x, div = unwrap(x), unwrap(div)
    return (x + (div - 1)) // div


def swizzle2d(i: tensor, j: tensor, size_i: Any, size_j: Any, size_g: Any) -> tuple[tensor, tensor]:
    """Row-major (i, j) renumbered in groups of size_g rows, column-major within a group."""
    from . import elementwise

    ij = i * size_j + j
    group_size = size_g * size_j
    offset = ij // group_size * size_g
    rows = elementwise.minimum(size_i - offset, size_g)
    ij = ij % group_size
    return offset + ij % rows, ij // rows
