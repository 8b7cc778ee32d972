"""AMD's GPUs, which are no target."""

from ..refused import hook

__getattr__ = hook("tilelang.rocm", "AMD's GPUs are no target")
