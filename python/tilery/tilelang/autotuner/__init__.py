"""Configurations of kernels, chosen by timing."""

from .capture import get_autotune_inputs, set_autotune_inputs
from .param import AutotuneResult, CompileArgs, ProfileArgs
from .tuner import AutoTuneImpl, AutoTuner, autotune

__all__ = [
    "AutoTuneImpl",
    "AutoTuner",
    "AutotuneResult",
    "CompileArgs",
    "ProfileArgs",
    "autotune",
    "get_autotune_inputs",
    "set_autotune_inputs",
]
