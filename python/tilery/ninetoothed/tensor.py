"""Tensors of tensors: what an arrangement starts from."""

from tilery._native.arrange import Tensor

from .eval import eval, subs

Tensor.eval = eval
Tensor.subs = subs

__all__ = ["Tensor"]
