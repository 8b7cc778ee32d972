"""Functions of tl.math that are written out; the others are rows of the table of functions."""

from . import elementwise, reduction
from .types import unwrap
from .value import member


@member
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x - max) over its sum, along a dimension (0 by default)."""
    axis = 0 if unwrap(dim) is None else dim
    numerator = elementwise.exp(x - reduction.max(x, axis, keep_dims=True))
    return elementwise.fdiv(numerator, reduction.sum(numerator, axis, keep_dims=True), ieee_rounding)


@member
def cdiv(x, div):
    """x / div rounded up; of host ints too."""
    x, div = unwrap(x), unwrap(div)
    return (x + (div - 1)) // div


def swizzle2d(i, j, size_i, size_j, size_g):
    """Row-major (i, j) renumbered in groups of size_g rows, column-major within a group."""
    ij = i * size_j + j
    group_size = size_g * size_j
    offset = ij // group_size * size_g
    rows = elementwise.minimum(size_i - offset, size_g)
    ij = ij % group_size
    return offset + ij % rows, ij // rows
