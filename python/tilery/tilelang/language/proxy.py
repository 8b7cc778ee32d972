"""Annotations of tensor parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import current
from ..tracing.memory import Data, Memory
from ..tracing.shapes import TensorType, row_major, shape_of
from ..tracing.values import read


class _TensorFactory:
    __tile_digest__ = ()

    def __call__(
        self, shape: Any, dtype: str = "float32", data: Any = None, strides: Sequence[Any] | None = None, scope: str = "global"
    ) -> TensorType | Memory:
        ignore("T.Tensor", scope=scope)
        if isinstance(data, Data):
            from .customize import view

            return view(data.memory, shape_of(shape), dtype)
        return TensorType(shape, dtype, strides)

    def __getitem__(self, item: Any) -> TensorType:
        shape, *element = item if isinstance(item, tuple) else (item,)
        return TensorType(shape, *element)


Tensor = Buffer = _TensorFactory()


class _StridedFactory:
    """The type of a tensor parameter with the given strides, in elements: T.StridedTensor(shape, strides, dtype)."""

    __tile_digest__ = ()

    def __call__(self, shape: Any, strides: Sequence[Any], dtype: str = "float32") -> TensorType:
        return TensorType(shape, dtype, strides)

    def __getitem__(self, item: tuple[Any, ...]) -> TensorType:
        shape, strides, *element = item
        return TensorType(shape, element[0] if element else "float32", strides)


StridedTensor = _StridedFactory()


def make_tensor(ptr: Any, shape: Any, dtype: str = "float32", strides: Sequence[Any] | None = None) -> Memory:
    """A tensor at an address (a parameter of type T.ptr, or an element of a tensor of them); row-major without strides."""
    trace = current()
    if trace is None:
        raise error(RuntimeError, "T.make_tensor is used outside of a kernel", hint="call it in a @T.prim_func")
    if getattr(ptr, "dtype", None) not in ("handle", "int64", "uint64"):
        raise error(TypeError, f"T.make_tensor takes an address, got {ptr!r}", hint="declare the parameter as T.ptr")
    kind = TensorType(shape, dtype, strides)
    memory = Memory(kind.shape, kind.dtype, "global", strides=list(kind.strides or row_major(kind.shape)))
    if trace.in_kernel:
        trace.point(memory, read(ptr))
    else:
        trace.pointed.append((memory, ptr))
    return memory
