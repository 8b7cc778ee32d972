"""Switches of another compiler's passes that programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option

_NONE = Option("there is no such pass: what it works on is not made")
_ALWAYS = Option("what this simplifies is simplified wherever that keeps its value")
_WAYS = Option("how elements travel follows from their places and from the machine")
_ROLES = Option("roles of warps follow from the kernel's copies and products")
_SHARED = Option("buffers share memory where their lives do not meet, and only there")
_SHOWN = Option("TILERY_DUMP prints the stages of a compilation, and a kernel's `asm` holds them")
_TIMES = Option("no pass is timed: a kernel compiles in a fraction of a second")
_CHECKED = Option("a program's mistakes are always reported")
_DEBUG = Option("debug=True at a launch looks for it, other launches do not", (None, False, True))
_LAYOUTS = Option("where elements of a tile lie follows from the instructions that read them")
_VECTORS = Option("vectors are as wide as the places of elements and the machine allow")

# {name of a key: why}; keys of former versions by their text
_KEYS = {
    # what is simplified
    **dict.fromkeys(
        (
            "TL_SIMPLIFY", "TIR_SIMPLIFY", "TIR_DISABLE_CSE", "TIR_ENABLE_EQUIV_TERMS_IN_CSE", "TL_FORCE_LET_INLINE",
            "TL_SIMPLIFY_TRANSITIVELY_PROVE_INEQUALITIES", "TL_SIMPLIFY_CONVERT_BOOLEAN_TO_AND_OF_ORS",
            "TL_SIMPLIFY_APPLY_CONSTRAINTS_TO_BOOLEAN_BRANCHES", "TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_PROVE_CONDITIONAL",
            "TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_SIMPLIFY_EXPRESSIONS", "TL_SIMPLIFY_ENABLE_LET_INLINE",
            "TL_DISABLE_LOOP_UNSWITCHING", "TL_LOOP_UNSWITCHING_ALLOW_NON_TRIVIAL_ELSE",
            "TL_IF_STMT_BINDING_INLINE_REPLAYABLE_BINDS", "tir.disable_cse_tir", "tir.enable_equiv_terms_in_cse",
            "tir.UnrollLoop", "tir.LoopPartition", "tir.HoistExpression",
        ),
        _ALWAYS,
    ),
    # copies, products, roles
    **dict.fromkeys(
        (
            "TL_DISABLE_TMA_LOWER", "TL_ENABLE_LOWER_LDGSTG", "TL_ENABLE_LOWER_LDGSTG_PREDICATED", "TIR_USE_ASYNC_COPY",
            "tir.ptx_ldg32",
        ),
        _WAYS,
    ),
    "TL_ENABLE_ASYNC_COPY": Option(_WAYS.reason, (None, True)),
    "TL_DISABLE_WARP_SPECIALIZED": _ROLES,
    "TL_DISABLE_SHUFFLE_ELECT": Option("which thread acts for its role follows from the machine"),
    "TL_DISABLE_WGMMA": Option("which instruction multiplies follows from the product and the machine"),
    **dict.fromkeys(
        ("TL_DISABLE_VECTORIZE_256", "TIR_DISABLE_VECTORIZE", "TL_ENABLE_FP32X2_REDUCTION", "tl.dynamic_alignment",
         "tl.disable_dynamic_tail_split"),
        _VECTORS,
    ),  # fmt: skip
    # memory and layouts
    **dict.fromkeys(
        (
            "TL_ENABLE_AGGRESSIVE_SHARED_MEMORY_MERGE", "TL_DISABLE_SHARED_MEMORY_REUSE", "TIR_MERGE_STATIC_SMEM",
            "TIR_DISABLE_STORAGE_REWRITE", "TL_STORAGE_REWRITE_DETECT_INPLACE",
        ),
        _SHARED,
    ),
    "TL_LAYOUT_COST_MODEL": _LAYOUTS,
    "TL_REDUCER_FORCE_BASELINE": Option("how threads share a reducer follows from the machine"),
    "TIR_NOALIAS": Option("each call finds which of its tensors overlap", (None, False, True)),
    "TL_DISABLE_THREAD_STORAGE_SYNC": Option("threads wait where one may read what another writes, and only there"),
    "TL_DISABLE_SAFE_MEMORY_ACCESS": Option("accesses outside a tensor never happen; checks that nothing needs are left out"),
    "TL_CONFIG_INDEX_BITWIDTH": Option("an index has 64 bits unless 32 are known to be enough"),
    # checks
    "TL_DISABLE_BUFFER_INIT_CHECK": _DEBUG,
    "TL_DISABLE_DATA_RACE_CHECK": _DEBUG,
    "TL_DISABLE_OUT_OF_BOUND_WARNING": _DEBUG,
    "TL_DISABLE_PRELOWER_SEMANTIC_CHECK": _CHECKED,
    "tir.disable_assert": _CHECKED,
    "TIR_ENABLE_DEBUG": Option("debug=True at a launch checks what a kernel does"),
    "tir.instrument_bound_checkers": Option("debug=True at a launch reports accesses out of bounds"),
    # what is printed and kept
    **dict.fromkeys(
        (
            "TL_ENABLE_DUMP_IR", "TL_DUMP_IR_DIR", "TL_AST_PRINT_ENABLE", "TL_ENABLE_REDUCER_PLAN_VERBOSE",
            "TL_ENABLE_VECTORIZE_PLANNER_VERBOSE", "TL_DEBUG_MERGE_SHARED_MEMORY_ALLOCATIONS", "CUDA_KERNELS_OUTPUT_DIR",
            "tl.enable_ptxas_verbose_output",
        ),
        _SHOWN,
    ),
    **dict.fromkeys(
        ("TL_LAYOUT_VISUALIZATION_ENABLE", "TL_LAYOUT_VISUALIZATION_FORMATS"),
        Option("tilelang.tools.plot_layout draws a layout"),
    ),
    **dict.fromkeys(("TL_PASS_PROFILE", "TL_PASS_PROFILE_THRESHOLD_MS"), _TIMES),
    "TL_EMIT_LINE_DIRECTIVES": Option("code always knows the program's lines"),
    # the machine's own compiler
    "TL_PTXAS_REGISTER_USAGE_LEVEL": Option("registers are dealt by what a kernel holds"),
    "TL_DEVICE_COMPILE_FLAGS": Option("no text of another language is compiled"),
    **dict.fromkeys(("TIR_ADD_LOWER_PASS", "tir.detect_global_barrier"), _NONE),
}

ROWS = {"tilelang.PassConfigKey": _KEYS}
