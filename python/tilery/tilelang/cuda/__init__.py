"""The language as upstream's CUDA target has it: the same one. Its layouts are hints."""

from .. import language
from ..refused import PASSES
from ..refused import hook as _hook
from . import intrinsics

__all__ = ["intrinsics", "language"]
__getattr__ = _hook("tilelang.cuda", PASSES)
