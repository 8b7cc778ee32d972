"""ntl: what an application is written with. The functions are those of tl but for the numbering of programs."""

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.table import REFUSED as _REFUSED
from ...core.tile.table import ROWS as _ROWS
from ...core.tile.types import *  # noqa: F403
from ...core.tile.types import block_type, constexpr_type, pointer_type, tuple_type
from ...core.tile.value import tensor  # noqa: F401
from ...core.tile.window import tensor_descriptor
from .programs import num_programs, program_id  # noqa: F401

# Triton's other names for the same things.
block_t, pointer_t, constexpr_t, tuple_t = block_type, pointer_type, constexpr_type, tuple_type
tensor_descriptor_t = tensor_descriptor_type = tensor_descriptor
tuple, slice = tuple, slice  # an application's are Python's
TRITON_MAX_TENSOR_NUMEL = 1048576

_modules = ("core", "extra", "libdevice", "math", "random", "standard")
_rows = (*_ROWS, *_ELEMENTWISE)
__getattr__, __dir__, __all__ = _Namespace(__name__, "tl", _rows, "core.tile.elementwise", "ntl", _REFUSED, _modules).hooks()
