"""Switches of upstream's passes."""

from __future__ import annotations

import enum
from typing import Any


class PassConfigKey(str, enum.Enum):
    """Accepted everywhere; none changes what a program computes."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> str:
        prefix, _, rest = name.partition("_")
        return f"{'tl' if prefix == 'TL' else 'tir'}.{rest.lower()}" if prefix in ("TL", "TIR") else name.lower()

    TL_SIMPLIFY = enum.auto()
    TL_DISABLE_BUFFER_INIT_CHECK = enum.auto()
    TL_DISABLE_DATA_RACE_CHECK = enum.auto()
    TL_DISABLE_PRELOWER_SEMANTIC_CHECK = enum.auto()
    TL_DISABLE_WARP_SPECIALIZED = enum.auto()
    TL_ENABLE_FAST_MATH = enum.auto()
    TL_PTXAS_REGISTER_USAGE_LEVEL = enum.auto()
    TL_DEVICE_COMPILE_FLAGS = enum.auto()
    TL_EMIT_LINE_DIRECTIVES = enum.auto()
    TL_CONFIG_INDEX_BITWIDTH = enum.auto()
    TL_ENABLE_REDUCER_PLAN_VERBOSE = enum.auto()
    TL_LAYOUT_COST_MODEL = enum.auto()
    TL_REDUCER_FORCE_BASELINE = enum.auto()
    TL_DISABLE_TMA_LOWER = enum.auto()
    TL_DISABLE_SAFE_MEMORY_ACCESS = "tl.disable_safe_memory_legalize"
    TL_DISABLE_VECTORIZE_256 = enum.auto()
    TL_ENABLE_ASYNC_COPY = enum.auto()
    TL_ENABLE_LOWER_LDGSTG = enum.auto()
    TL_ENABLE_LOWER_LDGSTG_PREDICATED = enum.auto()
    TL_ENABLE_VECTORIZE_PLANNER_VERBOSE = enum.auto()
    TL_DISABLE_WGMMA = enum.auto()
    TL_DEBUG_MERGE_SHARED_MEMORY_ALLOCATIONS = enum.auto()
    TL_ENABLE_AGGRESSIVE_SHARED_MEMORY_MERGE = enum.auto()
    TL_DISABLE_SHARED_MEMORY_REUSE = enum.auto()
    TL_DISABLE_SHUFFLE_ELECT = enum.auto()
    TL_DISABLE_LOOP_UNSWITCHING = enum.auto()
    TL_LOOP_UNSWITCHING_ALLOW_NON_TRIVIAL_ELSE = enum.auto()
    TL_IF_STMT_BINDING_INLINE_REPLAYABLE_BINDS = enum.auto()
    TL_DISABLE_THREAD_STORAGE_SYNC = enum.auto()
    TL_FORCE_LET_INLINE = enum.auto()
    TL_AST_PRINT_ENABLE = enum.auto()
    TL_LAYOUT_VISUALIZATION_ENABLE = enum.auto()
    TL_LAYOUT_VISUALIZATION_FORMATS = enum.auto()
    TL_STORAGE_REWRITE_DETECT_INPLACE = enum.auto()
    TL_DISABLE_OUT_OF_BOUND_WARNING = enum.auto()
    TL_ENABLE_DUMP_IR = enum.auto()
    TL_DUMP_IR_DIR = enum.auto()
    TL_PASS_PROFILE = enum.auto()
    TL_PASS_PROFILE_THRESHOLD_MS = enum.auto()
    TIR_ENABLE_EQUIV_TERMS_IN_CSE = enum.auto()
    TIR_DISABLE_CSE = enum.auto()
    TIR_SIMPLIFY = enum.auto()
    TIR_DISABLE_STORAGE_REWRITE = enum.auto()
    TIR_DISABLE_VECTORIZE = enum.auto()
    TIR_USE_ASYNC_COPY = enum.auto()
    TIR_ENABLE_DEBUG = enum.auto()
    TIR_MERGE_STATIC_SMEM = enum.auto()
    TIR_ADD_LOWER_PASS = enum.auto()
    TIR_NOALIAS = enum.auto()
    CUDA_KERNELS_OUTPUT_DIR = enum.auto()
