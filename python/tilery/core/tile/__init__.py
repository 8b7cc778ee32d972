"""Tiles as values: element types, Triton's promotion, and the functions that Tileon and NineToothed have in common."""

# Each gives tiles their methods.
from . import control, creation, debug, elementwise, math, memory, random, reduction, shape, types, value

__all__ = ["control", "creation", "debug", "elementwise", "math", "memory", "random", "reduction", "shape", "types", "value"]
