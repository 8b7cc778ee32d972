"""From a function to what runs it."""

from ..refused import TEXT, hook
from . import callback, param
from .callback import register_c_postproc, register_cuda_postproc, register_hip_postproc
from .lower import lower
from .param import CompiledArtifact, KernelParam

__all__ = [
    "CompiledArtifact",
    "KernelParam",
    "callback",
    "lower",
    "param",
    "register_c_postproc",
    "register_cuda_postproc",
    "register_hip_postproc",
]
__getattr__ = hook("tilelang.engine", TEXT)
