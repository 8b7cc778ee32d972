"""Apple's GPUs, which are no target."""

from ..refused import hook

__getattr__ = hook("tilelang.metal", "Apple's GPUs are no target")
