"""What upstream keeps for the back end `cpu`."""

from .....core.tile import shape
from .....core.tile.value import tensor
from .....errors import error
from . import libdevice  # noqa: F401


def vnni_decode(arg0: tensor) -> tensor:
    """The matrix of a tile in which each row holds two rows of 16-bit elements, or four of 8-bit ones, in turn."""
    bits = arg0.dtype.primitive_bitwidth
    if len(arg0.shape) != 2 or bits not in (8, 16):
        raise error(ValueError, f"vnni_decode takes a matrix of 8-bit or 16-bit elements, got {arg0}")
    (rows, columns), group = arg0.shape, 32 // bits
    if columns % group:
        raise error(ValueError, f"vnni_decode: {columns} columns are not made of groups of {group}")
    apart = shape.permute(shape.reshape(arg0, (rows, columns // group, group)), 0, 2, 1)
    return shape.reshape(apart, (rows * group, columns // group))
