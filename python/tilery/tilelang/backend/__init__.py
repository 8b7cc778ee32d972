"""What a program is compiled for."""

from . import target

__all__ = ["target"]
