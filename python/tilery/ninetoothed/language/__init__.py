"""ntl: what an application is written with. The functions are those of tl but for the numbering of programs."""

from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.types import *  # noqa: F403
from ...core.tile.types import block_type, constexpr_type, pointer_type, tuple_type

# Triton's other names for the same things.
block_t, pointer_t, constexpr_t, tuple_t = block_type, pointer_type, constexpr_type, tuple_type
tuple, slice = tuple, slice  # an application's are Python's
TRITON_MAX_TENSOR_NUMEL = 1048576

# Imported when they are asked for: few kernels name them.
_later = {
    **{name: f"ninetoothed.language.programs:{name}" for name in ("program_id", "num_programs")},
    "tensor": "core.tile.methods:tensor",
    **dict.fromkeys(["tensor_descriptor", "tensor_descriptor_t", "tensor_descriptor_type"], "core.tile.window:tensor_descriptor"),
}
_names = _Namespace(
    __name__,
    "tl",
    ["core.tile.table:ROWS", "core.functions.table:ROWS"],
    "core.tile.elementwise",
    "ntl",
    "core.tile.table:REFUSED",
    ("core", "extra", "libdevice", "math", "random", "standard"),
    later=_later,
)
__getattr__, __dir__ = _names.hooks()
