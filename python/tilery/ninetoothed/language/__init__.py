"""ntl: what an application is written with. The functions are those of Tileon and Triton."""

from ...tileon.language import *  # noqa: F401,F403
from . import libdevice  # noqa: F401
from .programs import num_programs, program_id  # noqa: F401
