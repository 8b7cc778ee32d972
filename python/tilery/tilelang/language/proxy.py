"""Annotations of tensor parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tracing.memory import TensorType


class _TensorFactory:
    __tile_digest__ = ()

    def __call__(
        self, shape: Any, dtype: str = "float32", data: Any = None, strides: Sequence[Any] | None = None, scope: str = "global"
    ) -> TensorType:
        return TensorType(shape, dtype, strides)

    def __getitem__(self, item: Any) -> TensorType:
        shape, *element = item if isinstance(item, tuple) else (item,)
        return TensorType(shape, *element)


Tensor = Buffer = _TensorFactory()


def StridedTensor(shape: Any, strides: Sequence[Any], dtype: str = "float32") -> TensorType:
    """The type of a tensor parameter with the given strides, in elements."""
    return TensorType(shape, dtype, strides)
