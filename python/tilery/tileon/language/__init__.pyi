# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from typing import Any

from ...core.functions import PropagateNan as PropagateNan
from ...core.tile.types import *
from ...core.tile.types import block_type as block_type
from ...core.tile.types import constexpr_type as constexpr_type
from ...core.tile.types import pointer_type as pointer_type
from ...core.tile.types import tuple_type as tuple_type
from ...core.tile.value import tensor as tensor
from ...core.tile.window import tensor_descriptor as tensor_descriptor
from . import core as core
from . import math as math
from . import random as random
from . import standard as standard
block_t = block_type
pointer_t = pointer_type
constexpr_t = constexpr_type
tuple_t = tuple_type
tensor_descriptor_t = tensor_descriptor
tensor_descriptor_type = tensor_descriptor
tuple = tuple[Any, ...]
slice = slice
TRITON_MAX_TENSOR_NUMEL: int
from . import extra as extra
from . import semantic as semantic
from . import target_info as target_info
from ...core.tile.math import softmax as softmax
from ...core.tile.math import cdiv as cdiv
from ...core.tile.math import swizzle2d as swizzle2d
from ...core.tile.random import philox as philox
from ...core.tile.random import rand as rand
from ...core.tile.random import rand4x as rand4x
from ...core.tile.random import randn as randn
from ...core.tile.random import randn4x as randn4x
from ...core.tile.random import randint as randint
from ...core.tile.random import randint4x as randint4x
from ...core.tile.random import philox_impl as philox_impl
from ...core.tile.random import uint_to_uniform_float as uint_to_uniform_float
from ...core.tile.random import pair_uniform_to_normal as pair_uniform_to_normal
from ...core.tile.creation import program_id as program_id
from ...core.tile.creation import num_programs as num_programs
from ...core.tile.creation import arange as arange
from ...core.tile.creation import full as full
from ...core.tile.creation import zeros as zeros
from ...core.tile.creation import zeros_like as zeros_like
from ...core.tile.creation import cast as cast
from ...core.tile.value import to_tensor as to_tensor
from ...core.tile.memory import load as load
from ...core.tile.memory import store as store
from ...core.tile.memory import atomic_add as atomic_add
from ...core.tile.memory import atomic_max as atomic_max
from ...core.tile.memory import atomic_min as atomic_min
from ...core.tile.memory import atomic_and as atomic_and
from ...core.tile.memory import atomic_or as atomic_or
from ...core.tile.memory import atomic_xor as atomic_xor
from ...core.tile.memory import atomic_xchg as atomic_xchg
from ...core.tile.memory import atomic_cas as atomic_cas
from ...core.tile.window import make_block_ptr as make_block_ptr
from ...core.tile.window import advance as advance
from ...core.tile.window import make_tensor_descriptor as make_tensor_descriptor
from ...core.tile.window import load_tensor_descriptor as load_tensor_descriptor
from ...core.tile.window import store_tensor_descriptor as store_tensor_descriptor
from ...core.tile.shape import broadcast as broadcast
from ...core.tile.shape import broadcast_to as broadcast_to
from ...core.tile.shape import expand_dims as expand_dims
from ...core.tile.shape import squeeze as squeeze
from ...core.tile.shape import unsqueeze as unsqueeze
from ...core.tile.shape import reshape as reshape
from ...core.tile.shape import view as view
from ...core.tile.shape import ravel as ravel
from ...core.tile.shape import permute as permute
from ...core.tile.shape import trans as trans
from ...core.tile.shape import transpose as transpose
from ...core.tile.shape import flip as flip
from ...core.tile.shape import join as join
from ...core.tile.shape import split as split
from ...core.tile.shape import interleave as interleave
from ...core.tile.shape import cat as cat
from ...core.tile.shape import gather as gather
from ...core.tile.shape import where as where
from ...core.tile.reduction import sum as sum
from ...core.tile.reduction import max as max
from ...core.tile.reduction import min as min
from ...core.tile.reduction import argmax as argmax
from ...core.tile.reduction import argmin as argmin
from ...core.tile.reduction import xor_sum as xor_sum
from ...core.tile.reduction import reduce_or as reduce_or
from ...core.tile.reduction import reduce as reduce
from ...core.tile.reduction import associative_scan as associative_scan
from ...core.tile.reduction import cumsum as cumsum
from ...core.tile.reduction import cumprod as cumprod
from ...core.tile.reduction import sort as sort
from ...core.tile.reduction import topk as topk
from ...core.tile.reduction import bitonic_merge as bitonic_merge
from ...core.tile.reduction import histogram as histogram
from ...core.tile.reduction import dot as dot
from ...core.tile.scaled import dot_scaled as dot_scaled
from ...core.tile.ptx import inline_asm_elementwise as inline_asm_elementwise
from ...core.tile.extern import extern_elementwise as extern_elementwise
from ...core.tile.extern import extern as extern
from ...core.tile.extern import builtin as builtin
from ...core.tile.per_lane import map_elementwise as map_elementwise
from ...core.tile.control import range as range
from ...core.tile.control import static_range as static_range
from ...core.tile.control import condition as condition
from ...core.tile.control import multiple_of as multiple_of
from ...core.tile.control import max_contiguous as max_contiguous
from ...core.tile.control import max_constancy as max_constancy
from ...core.tile.control import assume as assume
from ...core.tile.control import debug_barrier as debug_barrier
from ...core.tile.debug import static_print as static_print
from ...core.tile.debug import static_assert as static_assert
from ...core.tile.debug import device_print as device_print
from ...core.tile.debug import expect_zero as expect_zero
from ...core.tile.debug import device_assert as device_assert
from ...core.tile.elementwise import exp as exp
from ...core.tile.elementwise import exp2 as exp2
from ...core.tile.elementwise import log as log
from ...core.tile.elementwise import log2 as log2
from ...core.tile.elementwise import sigmoid as sigmoid
from ...core.tile.elementwise import sin as sin
from ...core.tile.elementwise import cos as cos
from ...core.tile.elementwise import sqrt as sqrt
from ...core.tile.elementwise import sqrt_rn as sqrt_rn
from ...core.tile.elementwise import rsqrt as rsqrt
from ...core.tile.elementwise import erf as erf
from ...core.tile.elementwise import floor as floor
from ...core.tile.elementwise import ceil as ceil
from ...core.tile.elementwise import abs as abs
from ...core.tile.elementwise import add as add
from ...core.tile.elementwise import sub as sub
from ...core.tile.elementwise import mul as mul
from ...core.tile.elementwise import fma as fma
from ...core.tile.elementwise import fdiv as fdiv
from ...core.tile.elementwise import div_rn as div_rn
from ...core.tile.elementwise import umulhi as umulhi
from ...core.tile.elementwise import minimum as minimum
from ...core.tile.elementwise import maximum as maximum
from ...core.tile.elementwise import clamp as clamp
