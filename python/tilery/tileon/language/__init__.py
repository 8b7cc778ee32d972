"""tl: what a kernel is written with. The functions come from the tables of functions."""

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.table import REFUSED as _REFUSED
from ...core.tile.table import ROWS as _ROWS
from ...core.tile.types import *  # noqa: F403
from ...core.tile.types import block_type, constexpr_type, pointer_type, tuple_type
from ...core.tile.value import tensor  # noqa: F401
from ...core.tile.window import tensor_descriptor
from . import core, math, random, standard  # noqa: F401

# Tileon's names for the type classes.
block_t, pointer_t, constexpr_t, tuple_t = block_type, pointer_type, constexpr_type, tuple_type
tensor_descriptor_t = tensor_descriptor_type = tensor_descriptor
tuple, slice = tuple, slice  # a kernel's are Python's
TRITON_MAX_TENSOR_NUMEL = 1048576

_modules = ("extra", "math", "random", "semantic", "target_info")
_rows = (*_ROWS, *_ELEMENTWISE)
__getattr__, __dir__, __all__ = _Namespace(__name__, "tl", _rows, "core.tile.elementwise", "tl", _REFUSED, _modules).hooks()
