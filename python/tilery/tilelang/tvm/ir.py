"""Classes of upstream's IR that programs ask for."""

from ..tracing.values import Expr as PrimExpr
from .module import IRModule
from .refused import hook

__all__ = ["IRModule", "PrimExpr"]
__getattr__ = hook("tvm.ir")
