"""Switches of upstream's passes."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from ...core.checks import truth
from ...errors import error, with_article
from ...frontend.wording import did_you_mean
from ..tracing.arithmetic import Arithmetic
from .compile_flags import CompileFlags


class PassConfigKey(str, enum.Enum):
    """Switches by name. TL_ENABLE_FAST_MATH makes functions and quotients of float32 a GPU's approximations; of the others the
    table says why they change nothing (tilelang/ignored_passes.py)."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> str:
        prefix, _, rest = name.partition("_")
        return f"{'tl' if prefix == 'TL' else 'tirx'}.{rest.lower()}"

    TL_SIMPLIFY = "tl.Simplify"
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
    TIR_ENABLE_EQUIV_TERMS_IN_CSE = "tir.enable_equiv_terms_in_cse_tir"
    TIR_DISABLE_CSE = enum.auto()
    TIR_SIMPLIFY = "tirx.Simplify"
    TIR_DISABLE_STORAGE_REWRITE = enum.auto()
    TIR_DISABLE_VECTORIZE = enum.auto()
    TIR_USE_ASYNC_COPY = enum.auto()
    TIR_ENABLE_DEBUG = enum.auto()
    TIR_MERGE_STATIC_SMEM = enum.auto()
    TIR_ADD_LOWER_PASS = enum.auto()
    TIR_NOALIAS = enum.auto()
    CUDA_KERNELS_OUTPUT_DIR = "cuda.kernels_output_dir"
    TL_ENABLE_FP32X2_REDUCTION = enum.auto()
    TL_SIMPLIFY_TRANSITIVELY_PROVE_INEQUALITIES = "transitively_prove_inequalities"
    TL_SIMPLIFY_CONVERT_BOOLEAN_TO_AND_OF_ORS = "convert_boolean_to_and_of_ors"
    TL_SIMPLIFY_APPLY_CONSTRAINTS_TO_BOOLEAN_BRANCHES = "apply_constraints_to_boolean_branches"
    TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_PROVE_CONDITIONAL = "propagate_knowns_to_prove_conditional"
    TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_SIMPLIFY_EXPRESSIONS = "propagate_knowns_to_simplify_expressions"
    TL_SIMPLIFY_ENABLE_LET_INLINE = "enable_simplify_let_inline"


# What earlier versions had, which programs written for them still name.
_FORMER = (
    "tl.disable_dynamic_tail_split", "tl.dynamic_alignment", "tl.disable_fast_math", "tl.enable_ptxas_verbose_output",
    "tir.disable_cse_tir", "tir.enable_equiv_terms_in_cse", "tir.disable_assert", "tir.instrument_bound_checkers",
    "tir.UnrollLoop", "tir.LoopPartition", "tir.HoistExpression", "tir.detect_global_barrier", "tir.ptx_ldg32",
)  # fmt: skip


# Those that are no switches.
_OF_OTHER_KINDS = {
    "TL_SIMPLIFY", "TIR_SIMPLIFY", "tir.UnrollLoop", "tir.LoopPartition", "tir.HoistExpression",  # dicts
    "TIR_ADD_LOWER_PASS", "TL_DEVICE_COMPILE_FLAGS", "TL_LAYOUT_VISUALIZATION_FORMATS", "TL_LAYOUT_COST_MODEL",
    "TL_DUMP_IR_DIR", "CUDA_KERNELS_OUTPUT_DIR", "TL_PTXAS_REGISTER_USAGE_LEVEL", "TL_CONFIG_INDEX_BITWIDTH",
    "TL_PASS_PROFILE_THRESHOLD_MS", "tl.dynamic_alignment",
}  # fmt: skip


def _plain(key: str) -> str:
    """Names of TVM's own switches have begun with "tir." and with "tirx."."""
    return key.lower().replace("tirx.", "tir.", 1)


class PassConfigs:
    """What a program sets. `arithmetic`: what it says of functions, quotients and sums; `ignored`: {name: value} of those that
    change nothing (tilelang/ignored_passes.py).

    :raises TypeError: for what is no dict.
    :raises AttributeError: for switches that no version has."""

    def __init__(self, configs: Any) -> None:
        if configs is not None and not isinstance(configs, Mapping):
            raise error(
                TypeError,
                f"pass_configs is {with_article(type(configs).__name__)}, not a dict",
                hint="write {tilelang.PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: True}",
            )
        self.ignored = {_name(key): value for key, value in (configs or {}).items()}
        for name, value in self.ignored.items():
            if value is not None and name not in _OF_OTHER_KINDS:
                truth(f"the switch {name} of pass_configs", value)
        flags = CompileFlags(self.ignored.pop("TL_DEVICE_COMPILE_FLAGS", None))
        exact = self.ignored.pop("tl.disable_fast_math", None)
        fast = self.ignored.pop("TL_ENABLE_FAST_MATH", None)
        wanted = [bool(value) for value in (fast, None if exact is None else not exact) if value is not None]
        self.arithmetic = Arithmetic(wanted[0] if wanted else None).or_else(flags.arithmetic)
        if flags.ignored:
            self.ignored["TL_DEVICE_COMPILE_FLAGS"] = flags.ignored


def _name(key: Any) -> str:
    """The name of a key; of former versions' its text."""
    text = key.value if isinstance(key, PassConfigKey) else key
    known = {_plain(key.value): key.name for key in PassConfigKey} | {_plain(key): key for key in _FORMER}
    if isinstance(text, str) and _plain(text) in known:
        return known[_plain(text)]
    spelled = {_plain(key): key for key in (*(key.value for key in PassConfigKey), *_FORMER)}
    near = did_you_mean(_plain(str(text)), spelled, lambda key: repr(spelled[key]))
    hint = near or "tilelang.PassConfigKey lists what there is"
    raise error(AttributeError, f"Invalid config option {text!r} in pass_configs", hint=hint)
