"""Where the elements of a tensor lie: torch's, NumPy's, and anything else that speaks DLPack."""

from collections.abc import Iterable
from typing import Any

from ..errors import error, with_article
from .present import present

_GPU = 2  # DLPack's device type


def _array(tensor: Any) -> Any:
    if hasattr(tensor, "__array_interface__"):
        return tensor
    import numpy

    return numpy.from_dlpack(tensor)


def layout(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(extents, strides in elements)."""
    if hasattr(tensor, "data_ptr"):
        if not hasattr(tensor, "shape"):
            raise error(
                TypeError,
                f"{with_article(type(tensor).__name__)} has an address and no shape, which the reference interpreter asks for",
                hint="pass a tensor, or launch without debug=True",
            )
        return tuple(tensor.shape), tuple(tensor.stride())
    array = _array(tensor)
    return tuple(array.shape), tuple(stride // array.itemsize for stride in array.strides)


def copied(value: Any) -> Any:
    """A tensor of torch's or NumPy's as one of its own, laid out alike; anything else, and what is spread without memory for each
    element, as it is."""
    torch = present("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if not value.ndim:
            return value.clone()
        fresh = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
        return value if 0 in value.stride() else fresh.copy_(value)
    return value.copy() if hasattr(value, "__array_interface__") and hasattr(value, "copy") else value


def span(tensor: Any, width: int) -> tuple[int, int, int]:
    """(address of element 0, first byte, number of bytes) of the elements, `width` bytes each."""
    shape, strides = layout(tensor)
    address = tensor.data_ptr() if hasattr(tensor, "data_ptr") else _array(tensor).__array_interface__["data"][0]
    if 0 in shape:
        return address, address, 0
    reach = [(n - 1) * s * width for n, s in zip(shape, strides)]
    return address, address + sum(r for r in reach if r < 0), sum(abs(r) for r in reach) + width


def on_gpu(tensor: Any) -> bool:
    return hasattr(tensor, "__dlpack_device__") and tensor.__dlpack_device__()[0] == _GPU


def gpu_of(arguments: Iterable[Any]) -> int:
    """The number of the GPU that the first tensor among these lies on; -1: it lies in the CPU's memory, or there is none."""
    for argument in arguments:
        if hasattr(argument, "__dlpack_device__"):
            return argument.__dlpack_device__()[1] if on_gpu(argument) else -1
    return -1
