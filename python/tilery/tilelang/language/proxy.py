"""Annotations of tensor parameters."""

from ..tracing.memory import TensorType


class _TensorFactory:
    __tile_digest__ = ()

    def __call__(self, shape, dtype="float32", data=None, strides=None, scope="global"):
        return TensorType(shape, dtype, strides)

    def __getitem__(self, item):
        shape, *element = item if isinstance(item, tuple) else (item,)
        return TensorType(shape, *element)


Tensor = Buffer = _TensorFactory()


def StridedTensor(shape, strides, dtype="float32"):
    """The type of a tensor parameter with the given strides, in elements."""
    return TensorType(shape, dtype, strides)
