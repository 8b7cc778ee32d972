"""ntl: what an application is written with. The functions are those of tl but for the numbering of programs."""

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.table import REFUSED as _REFUSED
from ...core.tile.table import ROWS as _ROWS
from ...core.tile.types import *  # noqa: F403
from ...core.tile.value import tensor  # noqa: F401
from . import libdevice, math, random  # noqa: F401
from .programs import num_programs, program_id  # noqa: F401

_modules = ("libdevice", "math", "random")
_rows = (*_ROWS, *_ELEMENTWISE)
__getattr__, __dir__, __all__ = _Namespace(__name__, "tl", _rows, "core.tile.elementwise", "ntl", _REFUSED, _modules).hooks()
