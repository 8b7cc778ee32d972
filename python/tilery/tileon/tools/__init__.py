"""What programs use beside the language."""

from .tensor_descriptor import TensorDescriptor

__all__ = ["TensorDescriptor"]
