"""Tiles with all their methods: each of these modules gives them some."""

from . import control, creation, debug, elementwise, math, memory, random, reduction, shape, types, value  # noqa: F401
from .value import tensor

__all__ = ["tensor"]
