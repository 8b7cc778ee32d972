"""tl: what a kernel is written with. The functions come from the tables of functions."""

from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.types import *  # noqa: F403
from ...core.tile.types import block_type, constexpr_type, pointer_type, tuple_type
from . import core, math, random, standard  # noqa: F401

# Tileon's names for the type classes.
block_t, pointer_t, constexpr_t, tuple_t = block_type, pointer_type, constexpr_type, tuple_type
tuple, slice = tuple, slice  # a kernel's are Python's
TRITON_MAX_TENSOR_NUMEL = 1048576

# Imported when they are asked for: few kernels name them.
_later = {
    "tensor": "core.tile.methods:tensor",
    **dict.fromkeys(["tensor_descriptor", "tensor_descriptor_t", "tensor_descriptor_type"], "core.tile.window:tensor_descriptor"),
}
_names = _Namespace(
    __name__,
    "tl",
    ["core.tile.table:ROWS", "core.functions.table:ROWS"],
    "core.tile.elementwise",
    "tl",
    "core.tile.table:REFUSED",
    ("extra", "math", "random", "semantic", "target_info"),
    later=_later,
)
__getattr__, __dir__ = _names.hooks()
