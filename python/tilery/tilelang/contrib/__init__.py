"""What upstream keeps beside its compiler."""

from ..refused import hook
from . import nvcc

__all__ = ["nvcc"]
__getattr__ = hook("tilelang.contrib", "no compiler of another language runs here: the driver assembles what is made")
