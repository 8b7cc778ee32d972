"""tl: what a kernel is written with."""
from . import extra, math, random  # noqa: F401
from .control import (assume, condition, debug_barrier, max_constancy, max_contiguous, multiple_of, range, static_range)  # noqa: F401
from .creation import arange, cast, full, num_programs, program_id, zeros, zeros_like  # noqa: F401
from .debug import device_assert, device_print, static_assert, static_print  # noqa: F401
from .math import (PropagateNan, abs, add, cdiv, ceil, clamp, cos, div_rn, erf, exp, exp2, fdiv, floor, fma, log, log2, maximum,  # noqa: F401
                   minimum, mul, rsqrt, sigmoid, sin, softmax, sqrt, sqrt_rn, sub, swizzle2d, umulhi)
from .memory import (advance, atomic_add, atomic_and, atomic_cas, atomic_max, atomic_min, atomic_or, atomic_xchg, atomic_xor,  # noqa: F401
                     load, load_tensor_descriptor, make_block_ptr, make_tensor_descriptor, store, store_tensor_descriptor)
from .memory import block_pointer as tensor_descriptor  # noqa: F401
from .random import (pair_uniform_to_normal, philox, philox_impl, rand, rand4x, randint, randint4x, randn, randn4x,  # noqa: F401
                     uint_to_uniform_float)
from .reduction import (argmax, argmin, associative_scan, cumprod, cumsum, dot, histogram, max, min, reduce, reduce_or, sort,  # noqa: F401
                        sum, topk, xor_sum)
from .shape import (broadcast, broadcast_to, cat, expand_dims, flip, gather, interleave, join, permute, ravel, reshape, split,  # noqa: F401
                    squeeze, trans, transpose, unsqueeze, view, where)
from .tensor import tensor, to_tensor  # noqa: F401
from .types import (bfloat16, block_type, const, constexpr, dtype, float8e4b8, float8e4b15, float8e4nv, float8e5, float8e5b16,  # noqa: F401
                    float16, float32, float64, int1, int8, int16, int32, int64, pi32_t, pointer_type, uint8, uint16, uint32, uint64, void)

# Tileon's names for the type classes.
block_t, pointer_t, constexpr_t, tuple_t, tensor_descriptor_t = block_type, pointer_type, constexpr, tuple, tensor_descriptor
constexpr_type, tuple_type, tensor_descriptor_type = constexpr, tuple, tensor_descriptor
TRITON_MAX_TENSOR_NUMEL = 1048576
