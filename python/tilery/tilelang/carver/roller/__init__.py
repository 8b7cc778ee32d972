"""Configurations as hints."""

from . import hint, rasterization
from .hint import Hint

__all__ = ["Hint", "hint", "rasterization"]
