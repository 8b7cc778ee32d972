"""Tiles as values: element types, Triton's promotion, and the functions that Tileon and NineToothed have in common."""

from . import control, creation, debug, math, memory, random, reduction, shape, types, value
from .control import *  # noqa: F403
from .creation import *  # noqa: F403
from .debug import *  # noqa: F403
from .math import *  # noqa: F403
from .memory import *  # noqa: F403
from .random import *  # noqa: F403
from .reduction import *  # noqa: F403
from .shape import *  # noqa: F403
from .types import *  # noqa: F403
from .value import *  # noqa: F403

__all__ = [
    name
    for module in (control, creation, debug, math, memory, random, reduction, shape, types, value)
    for name in module.__all__
]
