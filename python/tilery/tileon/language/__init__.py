"""tl: what a kernel is written with. The functions are the core's."""

from ...core.tile import *  # noqa: F403
from ...core.tile import block_type, constexpr, pointer_type
from ...core.tile.memory import block_pointer as tensor_descriptor
from . import extra, math, random  # noqa: F401

# Tileon's names for the type classes.
block_t, pointer_t, constexpr_t, tuple_t, tensor_descriptor_t = block_type, pointer_type, constexpr, tuple, tensor_descriptor
constexpr_type, tuple_type, tensor_descriptor_type = constexpr, tuple, tensor_descriptor
TRITON_MAX_TENSOR_NUMEL = 1048576
