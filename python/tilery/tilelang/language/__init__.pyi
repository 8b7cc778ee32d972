# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from typing import Any

import builtins

from ..tracing.values import Expr
from ..layout.fragment import Fragment as Fragment
from ..layout.layout import Layout as Layout
from ..tracing.dtypes import dtype as dtype
from ..tracing.dtypes import dtype as DataType
from ..tracing.values import Expr as PrimExpr
from ..tracing.values import Var as Var
from .dtypes import *
from .eager import Macro as Macro
from .eager import PrimFunc as PrimFunc
from .eager import Ref as Ref
from .gemm_op import GemmWarpPolicy as GemmWarpPolicy
from .proxy import Buffer as Buffer
from .proxy import Tensor as Tensor
from .schedule_id import WSID as WSID
FragmentBuffer = Tensor
SharedBuffer = Tensor
LocalBuffer = Tensor
from .eager.builder import prim_func as prim_func
from .eager.builder import meta_class as meta_class
from .eager.builder import macro as macro
from .eager.builder import macro as inline
from .symbolics import dynamic as dynamic
from .symbolics import dynamic as symbolic
from .eager.builder import const as const
from .kernel import Kernel as Kernel
from .kernel import get_block_binding as get_block_binding
from .kernel import get_block_bindings as get_block_bindings
from .kernel import get_block_extent as get_block_extent
from .kernel import get_block_extents as get_block_extents
from .kernel import get_thread_binding as get_thread_binding
from .kernel import get_thread_extent as get_thread_extent
from .kernel import launch_thread as launch_thread
from .kernel import get_thread_bindings as get_thread_bindings
from .kernel import get_thread_extents as get_thread_extents
from .kernel import get_num_threads as get_num_threads
from .warp import get_lane_idx as get_lane_idx
from .warp import get_warp_idx as get_warp_idx
from .warp import get_warp_idx_sync as get_warp_idx_sync
from .warp import get_warp_group_idx as get_warp_group_idx
from .warp import shfl_sync as shfl_sync
from .warp import shfl_up as shfl_up
from .warp import shfl_down as shfl_down
from .warp import shfl_xor as shfl_xor
from .warp import tvm_warp_shuffle as tvm_warp_shuffle
from .warp import tvm_warp_shuffle_up as tvm_warp_shuffle_up
from .warp import tvm_warp_shuffle_down as tvm_warp_shuffle_down
from .warp import any_sync as any_sync
from .warp import all_sync as all_sync
from .warp import ballot as ballot
from .warp import ballot_sync as ballot_sync
from .warp import syncthreads_count as syncthreads_count
from .warp import syncthreads_and as syncthreads_and
from .warp import syncthreads_or as syncthreads_or
from .ldst import ldg32 as ldg32
from .ldst import ldg64 as ldg64
from .ldst import ldg128 as ldg128
from .ldst import ldg256 as ldg256
from .ldst import lds32 as lds32
from .ldst import lds64 as lds64
from .ldst import lds128 as lds128
from .ldst import stg32 as stg32
from .ldst import stg64 as stg64
from .ldst import stg128 as stg128
from .ldst import stg256 as stg256
from .ldst import sts32 as sts32
from .ldst import sts64 as sts64
from .ldst import sts128 as sts128
from .allreduce import comm_reducer as comm_reducer
from .allreduce import attr as attr
from .allreduce import tvm_thread_allreduce as tvm_thread_allreduce
from .warp import activemask as activemask
from .warp import match_any_sync as match_any_sync
from .warp import match_all_sync as match_all_sync
from .warp import warp_reduce_sum as warp_reduce_sum
from .warp import warp_reduce_max as warp_reduce_max
from .warp import warp_reduce_min as warp_reduce_min
from .warp import warp_reduce_bitand as warp_reduce_bitand
from .warp import warp_reduce_bitor as warp_reduce_bitor
from .mma_op import ptx_mma as ptx_mma
from .mma_op import ptx_ldmatrix as ptx_ldmatrix
from .mma_op import ptx_stmatrix as ptx_stmatrix
from .mma_op import mma_fill as mma_fill
from .mma_op import mma_store as mma_store
from .loop import serial as serial
from .loop import serial as Serial
from .loop import unroll as unroll
from .loop import unroll as Unroll
from .loop import vectorized as vectorized
from .loop import vectorized as Vectorized
from .loop import thread_binding as thread_binding
from .loop import Grid as grid
from .loop import While as While
from .loop import If as If
from .loop import Then as Then
from .loop import Else as Else
from .loop import loop_break as loop_break
from .loop import thread_return as thread_return
from .loop import Parallel as Parallel
from .loop import Parallel as parallel
from .loop import Pipelined as Pipelined
from .loop import Persistent as Persistent
from .allocate import alloc_shared as alloc_shared
from .allocate import alloc_fragment as alloc_fragment
from .allocate import alloc_local as alloc_local
from .allocate import alloc_var as alloc_var
from .allocate import alloc_global as alloc_global
from .allocate import empty as empty
from .proxy import StridedTensor as StridedTensor
from .pointer import address_of as address_of
from .pointer import access_ptr as access_ptr
from .proxy import make_tensor as make_tensor
from .allocate import alloc_buffer as alloc_buffer
from .customize import reshape as reshape
from .customize import view as view
from .copy_op import copy as copy
from .copy_op import copy as async_copy
from ..tracing.memory import fill as fill
from .fill_op import clear as clear
from .customize import transpose as transpose
from .customize import index_to_coordinates as index_to_coordinates
from .customize import linear_index as linear_index
from .im2col_op import im2col as im2col
from .im2col_op import im2col as c2d_im2col
from .gemm_op import gemm as gemm
from .gemm_sp_op import gemm_sp as gemm_sp
from .gemm_sp_op import wgmma_gemm_sp as wgmma_gemm_sp
from .reduce_op import reduce as reduce
from .reduce_op import reduce_sum as reduce_sum
from .reduce_op import reduce_max as reduce_max
from .reduce_op import reduce_min as reduce_min
from .reduce_op import reduce_absmax as reduce_absmax
from .reduce_op import reduce_abssum as reduce_abssum
from .reduce_op import reduce_bitand as reduce_bitand
from .reduce_op import reduce_bitor as reduce_bitor
from .reduce_op import reduce_bitxor as reduce_bitxor
from .reduce_op import cumsum as cumsum
from .reduce_op import cummax as cummax
from .reduce_op import any_of as any_of
from .reduce_op import all_of as all_of
from .reducer import alloc_reducer as alloc_reducer
from .reducer import reducer_init as reducer_init
from .reducer import reducer_update as reducer_update
from .reducer import finalize_reducer as finalize_reducer
from .atomic import atomic_add as atomic_add
from .atomic import atomic_max as atomic_max
from .atomic import atomic_min as atomic_min
from .atomic import atomic_or as atomic_or
from .atomic import atomic_addx2 as atomic_addx2
from .atomic import atomic_addx4 as atomic_addx4
from .atomic import atomic_load as atomic_load
from .atomic import atomic_store as atomic_store
from ..tracing.values import cast as cast
from .tir.op import Cast as Cast
from .tir.op import reinterpret as reinterpret
from .tir.op import ceildiv as ceildiv
from .tir.op import align_up as align_up
from .tir.op import min as min
from .tir.op import max as max
from .tir.op import if_then_else as if_then_else
from .tir.op import Select as Select
from .tir.op import infinity as infinity
from .tir.op import max_value as max_value
from .tir.op import min_value as min_value
from .tir.op import logical_and as logical_and
from .tir.op import logical_and as And
from .tir.op import logical_or as logical_or
from .tir.op import logical_or as Or
from .tir.op import logical_not as logical_not
from .tir.op import logical_not as Not
from .ieee import fast_rcp as fast_rcp
from .bits import ffs as __ffs
from .bits import popcount as popcount
from .bits import clz as clz
from ..tracing.vectors import Ramp as Ramp
from .packed import Broadcast as Broadcast
from .packed import Shuffle as Shuffle
from .packed import extract_lane as extract_lane
from .packed import add2 as add2
from .packed import sub2 as sub2
from .packed import mul2 as mul2
from .packed import fma2 as fma2
from .packed import max2 as max2
from .packed import min2 as min2
from .packed import abs2 as abs2
from .ieee import ieee_add as ieee_add
from .ieee import ieee_sub as ieee_sub
from .ieee import ieee_mul as ieee_mul
from .ieee import ieee_fmaf as ieee_fmaf
from .ieee import ieee_fdiv as ieee_fdiv
from .ieee import ieee_frcp as ieee_frcp
from .ieee import ieee_fsqrt as ieee_fsqrt
from .ieee import ieee_frsqrt as ieee_frsqrt
from .rng import rng_init as rng_init
from .rng import rng_rand as rng_rand
from .rng import rng_rand_float as rng_rand_float
from .dot_op import dp4a as dp4a
from .print_op import print_value as print
from .print_op import device_assert as device_assert
from .print_op import assume as assume
from .builtin import evaluate as evaluate
from .builtin import meta_var as meta_var
from .customize import buffer_store as buffer_store
from .pointer import type_annotation as type_annotation
from .pointer import tvm_access_ptr as tvm_access_ptr
from .annotations import let as let
from .annotations import use_swizzle as use_swizzle
from .annotations import annotate_min_blocks_per_sm as annotate_min_blocks_per_sm
from .annotations import annotate_safe_value as annotate_safe_value
from .annotations import annotate_l2_hit_ratio as annotate_l2_hit_ratio
from .annotations import annotate_layout as annotate_layout
from .annotations import annotate_restrict_buffers as annotate_restrict_buffers
from .annotations import sblock_attr as sblock_attr
from .annotations import sblock as sblock
from .annotations import sblock as block
from .annotations import reads as reads
from .annotations import writes as writes
from .annotations import annotate_pass_configs as annotate_pass_configs
from .annotations import func_attr as func_attr
from .annotations import annotate_compile_flags as annotate_compile_flags
from .annotations import annotate_producer_reg_dealloc as annotate_producer_reg_dealloc
from .annotations import annotate_consumer_reg_alloc as annotate_consumer_reg_alloc
from .builtin import disable_warp_group_reg_alloc as disable_warp_group_reg_alloc
from .builtin import no_set_max_nreg as no_set_max_nreg
from .builtin import sync_global as sync_global
from .builtin import fence_proxy_async as fence_proxy_async
from .builtin import sync_grid as sync_grid
from .builtin import set_max_nreg as set_max_nreg
from .builtin import sync_threads as sync_threads
from .builtin import named_barrier_arrive as named_barrier_arrive
from .builtin import inc_max_nreg as inc_max_nreg
from .builtin import dec_max_nreg as dec_max_nreg
from .builtin import sync_warp as sync_warp
from .builtin import tvm_storage_sync as tvm_storage_sync
from .warpgroup import ws as ws
from .warpgroup import ws as WarpSpecialize
from .barrier import alloc_barrier as alloc_barrier
from .barrier import alloc_cluster_barrier as alloc_cluster_barrier
from .barrier import mbarrier_arrive as mbarrier_arrive
from .barrier import barrier_arrive as barrier_arrive
from .barrier import ptx_arrive_barrier as ptx_arrive_barrier
from .barrier import cp_async_barrier_noinc as cp_async_barrier_noinc
from .barrier import mbarrier_wait_parity as mbarrier_wait_parity
from .barrier import barrier_wait as barrier_wait
from .barrier import ptx_wait_barrier as ptx_wait_barrier
from .barrier import mbarrier_expect_tx as mbarrier_expect_tx
from .barrier import mbarrier_arrive_expect_tx as mbarrier_arrive_expect_tx
from .async_op import tma_copy as tma_copy
from .async_op import tma_store_arrive as tma_store_arrive
from .async_op import ptx_commit_group as ptx_commit_group
from .async_op import pdl_trigger as pdl_trigger
from .async_op import pdl_sync as pdl_sync
from .pointer import ptx_cp_async as ptx_cp_async
from .extern_op import call_extern as call_extern
from .extern_op import import_source as import_source
from .async_op import tma_store_wait as tma_store_wait
from .async_op import ptx_wait_group as ptx_wait_group
from .warpgroup import wgmma_gemm as wgmma_gemm
from .warpgroup import wait_wgmma as wait_wgmma
from .warpgroup import warpgroup_wait as warpgroup_wait
from .warpgroup import warpgroup_arrive as warpgroup_arrive
from .warpgroup import warpgroup_commit_batch as warpgroup_commit_batch
from .warpgroup import warpgroup_fence_operand as warpgroup_fence_operand
from .warpgroup import shuffle_elect as shuffle_elect
from .schedule import PersistentTileScheduler as PersistentTileScheduler
from .schedule import WSSchedule as WSSchedule
from .schedule import WSRole as WSRole
from .schedule import WSPipeline as WSPipeline
from .schedule import WSScope as WSScope
from .schedule import WSSync as WSSync
from .schedule import WSInstr as WSInstr
from .schedule import ws_op as ws_op
from .schedule import annotate_ws_schedule as annotate_ws_schedule
from .cluster import ClusterKernel as ClusterKernel
from .cluster import block_rank_in_cluster as block_rank_in_cluster
from .cluster import cluster_arrive as cluster_arrive
from .cluster import cluster_arrive_relaxed as cluster_arrive_relaxed
from .cluster import cluster_wait as cluster_wait
from .cluster import cluster_sync as cluster_sync
from .cluster import copy_cluster as copy_cluster

def exp(x: Expr | builtins.float) -> Any:
    """e to the power of x."""

def __exp(x: Expr | builtins.float) -> Any:
    """e to the power of x."""

def exp2(x: Expr | builtins.float) -> Any:
    """2 to the power of x."""

def exp10(x: Expr | builtins.float) -> Any:
    """10 to the power of x."""

def __exp10(x: Expr | builtins.float) -> Any:
    """10 to the power of x."""

def log(x: Expr | builtins.float) -> Any:
    """The natural logarithm."""

def __log(x: Expr | builtins.float) -> Any:
    """The natural logarithm."""

def log2(x: Expr | builtins.float) -> Any:
    """The logarithm to base 2."""

def __log2(x: Expr | builtins.float) -> Any:
    """The logarithm to base 2."""

def log10(x: Expr | builtins.float) -> Any:
    """The logarithm to base 10."""

def __log10(x: Expr | builtins.float) -> Any:
    """The logarithm to base 10."""

def log1p(x: Expr | builtins.float) -> Any:
    """The natural logarithm of 1 + x, exact near 0."""

def pow(x: Expr | builtins.float, y: Expr | builtins.float) -> Any:
    """x to the power of y, as a float."""

def sigmoid(x: Expr | builtins.float) -> Any:
    """1 / (1 + exp(-x))."""

def sin(x: Expr | builtins.float) -> Any:
    """The sine."""

def __sin(x: Expr | builtins.float) -> Any:
    """The sine."""

def cos(x: Expr | builtins.float) -> Any:
    """The cosine."""

def __cos(x: Expr | builtins.float) -> Any:
    """The cosine."""

def tan(x: Expr | builtins.float) -> Any:
    """The tangent."""

def __tan(x: Expr | builtins.float) -> Any:
    """The tangent."""

def asin(x: Expr | builtins.float) -> Any:
    """The arc sine."""

def acos(x: Expr | builtins.float) -> Any:
    """The arc cosine."""

def atan(x: Expr | builtins.float) -> Any:
    """The arc tangent."""

def atan2(y: Expr | builtins.float, x: Expr | builtins.float) -> Any:
    """The angle of the point (x, y)."""

def sinh(x: Expr | builtins.float) -> Any:
    """The hyperbolic sine."""

def cosh(x: Expr | builtins.float) -> Any:
    """The hyperbolic cosine."""

def tanh(x: Expr | builtins.float) -> Any:
    """The hyperbolic tangent."""

def asinh(x: Expr | builtins.float) -> Any:
    """The inverse of the hyperbolic sine."""

def acosh(x: Expr | builtins.float) -> Any:
    """The inverse of the hyperbolic cosine."""

def atanh(x: Expr | builtins.float) -> Any:
    """The inverse of the hyperbolic tangent."""

def sqrt(x: Expr | builtins.float) -> Any:
    """The square root, correctly rounded."""

def rsqrt(x: Expr | builtins.float) -> Any:
    """1 over the square root."""

def erf(x: Expr | builtins.float) -> Any:
    """The error function."""

def floor(x: Expr | builtins.float) -> Any:
    """The greatest integer that is at most x, as a float."""

def ceil(x: Expr | builtins.float) -> Any:
    """The smallest integer that is at least x, as a float."""

def trunc(x: Expr | builtins.float) -> Any:
    """x without its fraction, as a float."""

def nearbyint(x: Expr | builtins.float) -> Any:
    """The nearest integer, ties to the even one, as a float."""

def round(x: Expr | builtins.float, mode: Any = ...) -> Any:
    """The nearest integer, ties by mode, as a float."""

def isnan(x: Expr | builtins.float) -> Any:
    """Is x NaN?"""

def isinf(x: Expr | builtins.float) -> Any:
    """Is x an infinity?"""

def isfinite(x: Expr | builtins.float) -> Any:
    """Is x neither NaN nor an infinity?"""

def copysign(x: Expr | builtins.float, y: Expr | builtins.float) -> Any:
    """x with the sign of y."""

def abs(x: Expr | builtins.float) -> Any:
    """The absolute value."""

def clamp(
    x: Expr | builtins.float, min_val: Expr | builtins.float, max_val: Expr | builtins.float, propagate_nan: Any = ...,
) -> Any:
    """x limited to [min, max]."""

def truncdiv(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The quotient without its fraction, as in C."""

def truncmod(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The remainder with the sign of a, as in C."""

def fmod(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The remainder with the sign of a, as in C."""

def floordiv(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The quotient rounded down, as in Python."""

def floormod(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The remainder with the sign of b, as in Python."""

def shift_left(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The bits of a moved up by b places."""

def shift_right(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The bits of a moved down by b places."""

def bitwise_and(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The bits that both have."""

def bitwise_or(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The bits that either has."""

def bitwise_xor(a: Expr | builtins.float, b: Expr | builtins.float) -> Any:
    """The bits that just one has."""

def bitwise_not(x: Expr | builtins.float) -> Any:
    """All bits inverted."""
