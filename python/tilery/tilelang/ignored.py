"""What TileLang programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option
from .ignored_passes import ROWS as PASSES
from .ignored_tools import ROWS as TOOLS

_FULL = (None, -1, 0xFFFFFFFF)

_ORDER = Option("the order of blocks is chosen for the machine's caches, where that is worth it")
_STEPS = Option("what waits for what is found from the copies and products")
_COPIES = Option("the loop runs once, is part of a product, or would be too long", (None, False, 1), "unroll")
_NAMED = Option("other hints than those of the parameters are for passes of another compiler")
_WAYS = Option("how elements travel follows from the places of both sides and from the machine")
_SHARES = Option("how threads share elements follows from the machine and from what is done with them")
_REGISTERS = Option("registers are dealt by what each role holds")
_WARPS = Option("how warps share a product follows from its tile and the machine")
_PIECES = Option("caches hear of whole regions of tensors, not of single elements")
_SPAN = Option("errors name the program's own line")
_LANES = Option("the threads that take part are those that come by", _FULL)
_STEP_OF_K = Option("how much of k an instruction takes follows from the type", (1,))
_ENDED = "each statement waits for what it reads and writes, and for no more"
_ROLE = Option("what waits for what, and in which role, follows from the statements and their order")
_SEEN = Option("what is read and written is seen from the statements")

_PRODUCT = {
    "policy": _WARPS,
    "k_pack": _STEP_OF_K,
    "wg_wait": Option(_ENDED, (0,)),
    "annotations": _NAMED,
}
_COPY = {
    "coalesced_width": _WAYS,
    "disable_tma": _WAYS,
    "prefer_instruction": _WAYS,
    "loop_layout": _SHARES,
    "annotations": _NAMED,
    "eviction_policy": _PIECES,
}

# {function: {option: why}}; "" stands for the call itself
ROWS: dict[str, dict[str, Option]] = {
    **PASSES,
    **TOOLS,
    # Products.
    "T.gemm": _PRODUCT,
    "T.wgmma_gemm": _PRODUCT,
    "T.gemm_sp": _PRODUCT,
    "T.wgmma_gemm_sp": _PRODUCT,
    # Copies.
    "T.copy": _COPY,
    "T.async_copy": _COPY,
    "T.tma_copy": {
        "leader_scope_threads": Option("which thread starts a copy follows from its role"),
        "annotations": _NAMED,
    },
    "T.copy_cluster": {
        "coalesced_width": _WAYS,
        "loop_layout": _SHARES,
        "eviction_policy": Option("between blocks no cache is asked"),
    },
    "T.im2col": {"eviction_policy": _PIECES},
    **{f"T.{name}": {"use_tma": _WAYS} for name in ("atomic_add", "atomic_max", "atomic_min")},
    # Loops.
    "T.Parallel": {
        "coalesced_width": _WAYS,
        "loop_layout": _SHARES,
        "prefer_async": _WAYS,
        "annotations": _NAMED,
    },
    "T.Pipelined": {**dict.fromkeys(("order", "stage", "group", "sync"), _STEPS), "annotations": _NAMED},
    **{f"T.{name}": {"annotations": _NAMED} for name in ("serial", "vectorized", "thread_binding")},
    "T.unroll": {**dict.fromkeys(("explicit", "unroll_factor"), _COPIES), "annotations": _NAMED},
    # Reductions.
    **{
        f"T.{name}": {"batch": Option("how many sums threads exchange at once follows from the machine", (1,))}
        for name in (
            "reduce", "reduce_sum", "reduce_max", "reduce_min", "reduce_absmax", "reduce_abssum", "reduce_bitand",
            "reduce_bitor", "reduce_bitxor", "finalize_reducer",
        )
    },  # fmt: skip
    "T.alloc_reducer": {"replication": _SHARES},
    "T.tvm_thread_allreduce": {"dtype": Option("it writes its result and gives no value", ("handle",))},
    "T.attr": {
        "attr_key": Option("a scope says something to T.tvm_thread_allreduce only", ("reduce_scope",)),
        "value": Option("the scope of a reduction has no value"),
    },
    # Kernels and buffers.
    "T.Tensor": {"scope": Option("where a buffer lies, what allocates it says", ("global",))},
    "T.Kernel": {"is_cpu": Option("a launch runs where its tensors are")},
    "T.use_swizzle": dict.fromkeys(("panel_size", "order"), _ORDER),
    "T.annotate_min_blocks_per_sm": {"count": Option("how many blocks fit follows from the tiles")},
    "T.annotate_layout": {"layout_map": Option("where a buffer's elements lie follows from the instructions that read them")},
    "T.annotate_l2_hit_ratio": {"l2_hit_ratio_map": Option("no part of the cache is set aside: other launches share it")},
    "T.annotate_restrict_buffers": {"buffers": Option("each call finds which of its tensors overlap")},
    "T.annotate_producer_reg_dealloc": {"reg_count": _REGISTERS},
    "T.annotate_consumer_reg_alloc": {"reg_count": _REGISTERS},
    **{f"T.{name}": {"reg_count": _REGISTERS} for name in ("inc_max_nreg", "dec_max_nreg")},
    "T.set_max_nreg": {"reg_count": _REGISTERS, "is_inc": Option("it goes with reg_count", (0, 1))},
    "T.no_set_max_nreg": {"": _REGISTERS},
    "T.disable_warp_group_reg_alloc": {"": _REGISTERS},
    "T.annotate_ws_schedule": {"schedule": _ROLE},
    "T.ws_op": {"name": _ROLE},
    "T.WSInstr": {"op": _ROLE, "annotations": _ROLE},
    "T.WSRole": {"max_nreg": _REGISTERS},
    "T.WSPipeline": {"buffers": _ROLE, "depth": _ROLE},
    "T.WSSync": {"stage": _ROLE},
    "T.sblock": {
        "name": Option("a part of a program needs no name", ("",)),
        "no_realize": Option("no block is made of it"),
    },
    "T.sblock_attr": {"attrs": _NAMED},
    "T.reads": {"regions": _SEEN},
    "T.writes": {"regions": _SEEN},
    # Threads and waits.
    **{
        f"T.{name}": {"mask": _LANES}
        for name in (
            "sync_warp", "shfl_sync", "shfl_up", "shfl_down", "shfl_xor", "tvm_warp_shuffle", "tvm_warp_shuffle_up",
            "tvm_warp_shuffle_down",
        )
    },  # fmt: skip
    "T.fence_proxy_async": {"buffers": Option(_ENDED)},
    "T.tma_store_wait": {"count": Option(_ENDED, (0,)), "read": Option(_ENDED, (True,))},
    "T.ptx_wait_group": {"num": Option(_ENDED, (0,))},
    "T.wait_wgmma": {"num_mma": Option(_ENDED, (0,))},
    "T.warpgroup_wait": {"num_mma": Option(_ENDED, (0,))},
    "T.warpgroup_fence_operand": {
        "operands": Option(_ENDED, ((),)),
        "num_regs": Option(_ENDED, (0,)),
        "offset": Option(_ENDED, (0,)),
    },
    # Printing and checks.
    "T.print": dict.fromkeys(("warp_group_id", "warp_id"), Option("a block prints a buffer once", (0,))),
    "T.device_assert": {"no_stack_info": _SPAN},
    "T.evaluate": {"value": Option("a value that nobody uses is not computed")},
    **{
        f"T.{name}": {"span": _SPAN}
        for name in ("Cast", "Select", "if_then_else", "infinity", "max_value", "min_value", "reinterpret")
    },
    "T.rng_init": {"generator": Option("all generators draw from Philox", ("curandStatePhilox4_32_10_t",))},
}
