"""Arguments of launches beside tensors: ones that are seen as another type, and ones that only stand for a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tile import types
from ...errors import error


class TensorWrapper:
    """A tensor whose elements are seen as another type: ``base`` is the tensor, ``dtype`` one of tl or of torch."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base, self.dtype = base, dtype
        self.data = base.data
        self.device, self.shape = base.device, base.shape

    @property
    def is_cuda(self) -> bool:
        return bool(self.base.is_cuda)

    def data_ptr(self) -> int:
        return self.base.data_ptr()

    def stride(self, *args: int) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size()

    def numel(self) -> int:
        return self.base.numel()

    def cpu(self) -> TensorWrapper:
        return type(self)(self.base.cpu(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        return type(self)(self.base.to(device), self.dtype)

    def clone(self) -> TensorWrapper:
        return type(self)(self.base.clone(), self.dtype)

    def copy_(self, other: TensorWrapper) -> TensorWrapper:
        self.base.copy_(other.base)
        return self

    def new_empty(self, sizes: Sequence[int]) -> TensorWrapper:
        return type(self)(self.base.new_empty(sizes), self.dtype)

    def new_empty_strided(self, sizes: Sequence[int], strides: Sequence[int]) -> TensorWrapper:
        return type(self)(self.base.new_empty_strided(sizes, strides), self.dtype)

    def __repr__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


_CODINGS = {name: name for name in types.CODED} | {"torch.float8_e4m3fnuz": "fp8e4b8", "torch.float8_e5m2fnuz": "fp8e5b16"}


class CodedWrapper(TensorWrapper):
    """A tensor seen as 8-bit floats that are bytes with a meaning in kernels (tl.float8e4b8, float8e4b15, float8e5b16)."""

    __tile_structure__ = True

    @property
    def coding(self) -> str:
        return _CODINGS[str(self.dtype)]

    @property
    def codes(self) -> TensorWrapper:
        return TensorWrapper(self.base, types.uint8)


def is_coded(value: Any) -> bool:
    """A tensor whose own type is one of these."""
    return hasattr(value, "data_ptr") and str(getattr(value, "dtype", "")) in _CODINGS


def _wrapped(tensor: Any, dtype: Any) -> TensorWrapper:
    return (CodedWrapper if str(dtype) in _CODINGS else TensorWrapper)(tensor, dtype)


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """The tensor with elements of another type of the same width (of tl, or of torch).

    :raises TypeError: it is not a tensor."""
    dtype = types.unwrap(dtype)
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else _wrapped(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return _wrapped(tensor, dtype)
    raise error(TypeError, f"reinterpret takes a tensor, got {type(tensor).__name__}")


class MockTensor:
    """Stands for a tensor of a type when a kernel is compiled without a launch: kernel.warmup(MockTensor(torch.float32), ...)."""

    def __init__(self, dtype: Any, shape: Sequence[int] | None = None) -> None:
        self.dtype, self.shape = dtype, [1] if shape is None else list(shape)

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """A MockTensor for an element type of torch; anything else as it is."""
        kind = type(arg)
        return MockTensor(arg) if kind.__name__ == "dtype" and kind.__module__ == "torch" else arg

    def stride(self) -> list[int]:
        strides = [1]
        for size in self.shape[:0:-1]:
            strides.append(strides[-1] * size)
        return strides[::-1]

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0

    def real(self) -> Any:
        """An empty tensor of the type, where kernels run."""
        import torch

        from .driver import driver

        name = getattr(self.dtype, "__tile_dtype__", None)
        dtype = getattr(torch, name) if name else self.dtype
        return torch.empty(0, dtype=dtype, device=driver.active.get_active_torch_device())
