"""Upstream's IR of tile operations: a way into its compiler."""

from ..refused import PASSES, hook

__getattr__ = hook("tilelang.ir", PASSES)
