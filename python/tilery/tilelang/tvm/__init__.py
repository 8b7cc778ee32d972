"""What programs use of upstream's compiler library: targets, element types, opaque modules, symbolic values, exceptions."""

from __future__ import annotations

from . import error, runtime, target, testing, tirx, transform
from .error import TVMError
from .module import IRModule
from .refused import hook
from .runtime import DataType

__all__ = ["DataType", "IRModule", "TVMError", "error", "runtime", "target", "testing", "tir", "tirx", "transform"]

tir = tirx
__getattr__ = hook("tvm")
