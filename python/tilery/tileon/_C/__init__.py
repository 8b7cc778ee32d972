"""Upstream's extension module is not here: the compiler is tilery's own."""

from . import libtriton

__all__ = ["libtriton"]
