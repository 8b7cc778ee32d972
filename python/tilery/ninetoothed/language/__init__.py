"""ntl: what an application is written with. The functions are those of Tileon and Triton."""

from ...core.tile import *  # noqa: F403
from ...core.tile import math, random  # noqa: F401
from . import libdevice  # noqa: F401
from .programs import num_programs, program_id  # noqa: F401
