"""Where the elements of a tensor lie: torch's, NumPy's, and anything else that speaks DLPack."""

from typing import Any


def _array(tensor: Any) -> Any:
    if hasattr(tensor, "__array_interface__"):
        return tensor
    import numpy

    return numpy.from_dlpack(tensor)


def layout(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(extents, strides in elements)."""
    if hasattr(tensor, "data_ptr"):
        return tuple(tensor.shape), tuple(tensor.stride())
    array = _array(tensor)
    return tuple(array.shape), tuple(stride // array.itemsize for stride in array.strides)


def span(tensor: Any, width: int) -> tuple[int, int, int]:
    """(address of element 0, first byte, number of bytes) of the elements, `width` bytes each."""
    shape, strides = layout(tensor)
    address = tensor.data_ptr() if hasattr(tensor, "data_ptr") else _array(tensor).__array_interface__["data"][0]
    if 0 in shape:
        return address, address, 0
    reach = [(n - 1) * s * width for n, s in zip(shape, strides)]
    return address, address + sum(r for r in reach if r < 0), sum(abs(r) for r in reach) + width
