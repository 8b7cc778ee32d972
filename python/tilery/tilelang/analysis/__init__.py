"""Checks of upstream's IR; those of programs are made where a function is defined."""

from ..refused import PASSES, hook

__getattr__ = hook("tilelang.analysis", PASSES)
