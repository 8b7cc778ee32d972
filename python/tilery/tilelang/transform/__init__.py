"""Switches of upstream's passes."""

from ..refused import PASSES
from ..refused import hook as _hook
from ..tvm.transform import PassContext
from .pass_config import PassConfigKey
from .simplify import apply_simplify, simplify_prim_func

__all__ = ["PassConfigKey", "PassContext", "apply_simplify", "get_pass_context", "simplify_prim_func"]
__getattr__ = _hook("tilelang.transform", PASSES)


def get_pass_context() -> PassContext:
    """A context without switches."""
    return PassContext()
