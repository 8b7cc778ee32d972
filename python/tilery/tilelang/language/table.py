"""The functions of T that are written out, one row each; the elementwise ones are in the core's table."""

from ...core.functions.row import Written


def _row(name: str, place: str, operation: str, takes: str, names: str | None = None) -> Written:
    return Written(name, f"tilelang.language.{place}", operation, takes, T=names or name)


def _rows(names: str, *columns: str) -> list[Written]:
    """Functions that differ by nothing but their names."""
    return [_row(name, *columns) for name in names.split()]


# fmt: off
ROWS = (
    # Programs and their parameters.
    _row("prim_func", "eager.builder", "", "a function"),
    _row("meta_class", "eager.builder", "", "a class"),
    _row("macro", "eager.builder", "", "a function", "macro inline"),
    _row("dynamic", "symbolics", "", "names of sizes", "dynamic symbolic"),
    _row("const", "eager.builder", "", "names of sizes"),
    _row("Kernel", "kernel", "program_id", "extents: ints or sizes"),
    _row("get_block_binding", "kernel", "program_id", "an axis"),
    _row("get_block_bindings", "kernel", "program_id", ""),
    _row("get_block_extent", "kernel", "num_programs", "an axis"),
    _row("get_block_extents", "kernel", "num_programs", ""),
    *_rows("get_thread_binding get_thread_extent", "kernel", "", "an axis"),
    _row("launch_thread", "kernel", "", "an axis and an extent"),
    *_rows("get_thread_bindings get_thread_extents get_num_threads", "kernel", "", ""),

    *_rows("get_lane_idx get_warp_idx get_warp_idx_sync get_warp_group_idx", "warp", "", "a number of threads"),
    *_rows("shfl_sync shfl_up shfl_down shfl_xor", "warp", "shuffle", "a number and a lane"),
    *_rows("tvm_warp_shuffle tvm_warp_shuffle_up tvm_warp_shuffle_down", "warp", "shuffle", "a mask, a number and a lane"),
    *_rows("any_sync all_sync ballot ballot_sync", "warp", "vote", "a condition"),
    *_rows("syncthreads_count syncthreads_and syncthreads_or", "warp", "vote", "a condition"),
    *_rows("ldg32 ldg64 ldg128 ldg256 lds32 lds64 lds128", "ldst", "load", "a slice or an element"),
    *_rows("stg32 stg64 stg128 stg256 sts32 sts64 sts128", "ldst", "store", "a slice or an element, and numbers"),
    _row("comm_reducer", "allreduce", "", "a function and numbers"),
    _row("attr", "allreduce", "", "a reducer and a key"),
    _row("tvm_thread_allreduce", "allreduce", "reduce", "numbers and an element"),
    _row("activemask", "warp", "vote", ""),
    *_rows("match_any_sync match_all_sync", "warp", "shuffle", "a number"),
    *_rows("warp_reduce_sum warp_reduce_max warp_reduce_min", "warp", "shuffle", "a number"),
    *_rows("warp_reduce_bitand warp_reduce_bitor", "warp", "shuffle", "an integer"),
    _row("ptx_mma", "mma_op", "warp_dot", "a shape, layouts, types and addresses"),
    _row("ptx_ldmatrix", "mma_op", "shuffle", "a number of matrices and addresses"),
    _row("ptx_stmatrix", "mma_op", "shuffle", "a number of matrices, an address and words"),
    _row("mma_fill", "mma_op", "", "a count and an address"),
    _row("mma_store", "mma_op", "element_store", "a shape, addresses and a stride"),

    # Loops.
    _row("serial", "loop", "for", "integers", "serial Serial"),
    _row("unroll", "loop", "for", "integers", "unroll Unroll"),
    _row("vectorized", "loop", "for", "integers", "vectorized Vectorized"),
    _row("thread_binding", "loop", "if", "a count and an axis"),
    _row("grid", "loop:Grid", "for", "integers"),
    _row("While", "loop", "while", "a condition"),
    _row("If", "loop", "if", "a condition"),
    *_rows("Then Else", "loop", "if", ""),
    _row("loop_break", "loop", "while", ""),
    _row("thread_return", "loop", "if", ""),
    _row("Parallel", "loop", "parallel", "integers", "Parallel parallel"),
    *_rows("Pipelined Persistent", "loop", "for", "integers"),

    # Memory.
    *_rows("alloc_shared alloc_fragment alloc_local", "allocate", "alloc", "a shape and a type"),
    _row("alloc_var", "allocate", "alloc", "a type"),
    *_rows("alloc_global empty", "allocate", "host_empty", "a shape and a type"),
    _row("StridedTensor", "proxy", "root", "a shape, strides and a type"),
    *_rows("address_of access_ptr", "pointer", "ptr_to_int", "elements"),
    _row("make_tensor", "proxy", "root", "an address, a shape and a type"),
    _row("alloc_buffer", "allocate", "alloc", "a shape, a type and a scope"),
    *_rows("reshape view", "customize", "reinterpret", "a buffer"),

    # Regions.
    _row("copy", "copy_op", "copy_region", "tensors, buffers, regions, elements", "copy async_copy"),
    *_rows("fill clear", "fill_op", "fill_region", "tensors, buffers, regions, elements"),
    _row("transpose", "customize", "permute", "buffers"),
    _row("index_to_coordinates", "customize", "rem", "an integer and a shape"),
    _row("linear_index", "customize", "arith.addi", "integers"),
    _row("im2col", "im2col_op", "parallel", "a tensor and a buffer", "im2col c2d_im2col"),
    _row("gemm", "gemm_op", "gemm_region", "buffers, regions"),
    *_rows("gemm_sp wgmma_gemm_sp", "gemm_sp_op", "parallel, gemm_region", "buffers, regions"),
    *_rows("reduce reduce_sum reduce_max reduce_min reduce_absmax reduce_abssum", "reduce_op", "reduce_region", "buffers"),
    *_rows("reduce_bitand reduce_bitor reduce_bitxor", "reduce_op", "reduce_region", "buffers of integers"),
    *_rows("cumsum cummax", "reduce_op", "scan_region", "buffers"),
    _row("any_of", "reduce_op", "reduce or", "buffers, regions"),
    _row("all_of", "reduce_op", "reduce and", "buffers, regions"),
    _row("alloc_reducer", "reducer", "alloc", "a shape and a type"),
    _row("reducer_init", "reducer", "fill_region", "a reducer"),
    _row("reducer_update", "reducer", "element_update", "an element of a reducer"),
    _row("finalize_reducer", "reducer", "copy_region", "a reducer"),
    *_rows("atomic_add atomic_max atomic_min", "atomic", "atomic_region", "tensors, regions, elements"),
    _row("atomic_or", "atomic", "atomic_region", "elements of integers"),
    *_rows("atomic_addx2 atomic_addx4", "atomic", "atomic_rmw", "elements or slices"),
    _row("atomic_load", "atomic", "load", "an element"),
    _row("atomic_store", "atomic", "atomic_rmw", "an element and a number"),

    # Numbers and conditions.
    *_rows("cast Cast", "tir.op", "cast", "a number"),
    _row("reinterpret", "tir.op", "bitcast", "a number"),
    *_rows("ceildiv align_up", "tir.op", "//", "integers, sizes"),
    _row("min", "tir.op", "min", "numbers, sizes"),
    _row("max", "tir.op", "max", "numbers, sizes"),
    *_rows("if_then_else Select", "tir.op", "select", "a condition and two numbers"),
    _row("infinity", "tir.op", "constant", "a type of floats"),
    *_rows("max_value min_value", "tir.op", "", "a type"),
    _row("logical_and", "tir.op", "and", "conditions", "logical_and And"),
    _row("logical_or", "tir.op", "or", "conditions", "logical_or Or"),
    _row("logical_not", "tir.op", "not", "a condition", "logical_not Not"),

    _row("fast_rcp", "ieee", "/", "floats"),
    _row("ffs", "bits", "& | + >>", "integers", "__ffs"),
    *_rows("popcount clz", "bits", "& | + >>", "integers"),
    _row("Ramp", "packed", "", "an integer, a stride and a count"),
    _row("Broadcast", "packed", "", "a number and a count"),
    _row("Shuffle", "packed", "", "vectors and indices"),
    _row("extract_lane", "packed", "", "a vector and an index"),
    _row("add2", "packed", "+", "vectors"),
    _row("sub2", "packed", "-", "vectors"),
    _row("mul2", "packed", "*", "vectors"),
    _row("fma2", "packed", "fma", "vectors"),
    _row("max2", "packed", "max", "vectors"),
    _row("min2", "packed", "min", "vectors"),
    _row("abs2", "packed", "abs", "vectors"),
    _row("ieee_add", "ieee", "+", "floats"),
    _row("ieee_sub", "ieee", "-", "floats"),
    _row("ieee_mul", "ieee", "*", "floats"),
    _row("ieee_fmaf", "ieee", "fma", "floats"),
    _row("ieee_fdiv", "ieee", "div_rn", "floats"),
    _row("ieee_frcp", "ieee", "div_rn", "floats"),
    _row("ieee_fsqrt", "ieee", "sqrt", "floats"),
    _row("ieee_frsqrt", "ieee", "sqrt, div_rn", "floats but float64"),

    _row("rng_init", "rng", "", "integers"),
    *_rows("rng_rand rng_rand_float", "rng", "mulhi * ^", ""),
    _row("dp4a", "dot_op", "+ *", "vectors of four int8"),

    # Debugging.
    _row("print", "print_op:print_value", "print", "a number or a buffer"),
    _row("device_assert", "print_op", "assert_true", "a condition"),
    _row("assume", "print_op", "", "a condition"),
    _row("evaluate", "builtin", "", "anything"),
    _row("meta_var", "builtin", "", "anything"),
    _row("buffer_store", "customize", "element_store", "a buffer, a number and indices"),
    _row("type_annotation", "pointer", "", "a type"),
    _row("tvm_access_ptr", "pointer", "ptr_to_int", "a type, a buffer's data, where and how many elements"),
    _row("let", "annotations", "", "a variable and a number"),

    # Hints: they never change a result.
    *_rows("use_swizzle annotate_min_blocks_per_sm", "annotations", "kernel_hints", "an int"),
    *_rows("annotate_safe_value annotate_l2_hit_ratio", "annotations", "", "{tensor: number}"),
    _row("annotate_layout", "annotations", "", "{buffer: layout}"),
    _row("annotate_restrict_buffers", "annotations", "", "tensors"),
    _row("sblock_attr", "annotations", "", "a dict"),
    *_rows("sblock block", "annotations:sblock", "", "a name"),
    *_rows("reads writes", "annotations", "", "regions"),
    *_rows("annotate_pass_configs func_attr", "annotations", "", "a dict"),
    _row("annotate_compile_flags", "annotations", "", "strings"),
    *_rows("annotate_producer_reg_dealloc annotate_consumer_reg_alloc", "annotations", "", "an int"),
    *_rows("disable_warp_group_reg_alloc no_set_max_nreg sync_global fence_proxy_async", "builtin", "", ""),
    _row("sync_grid", "builtin", "launch", ""),
    *_rows("set_max_nreg sync_threads", "builtin", "", "ints"),
    _row("named_barrier_arrive", "builtin", "barrier_arrive", "ints"),
    *_rows("inc_max_nreg dec_max_nreg sync_warp", "builtin", "", "an int"),
    _row("tvm_storage_sync", "builtin", "", "a scope"),

    # Roles of warp groups, barriers, clusters.
    _row("ws", "warpgroup", "roles", "numbers of warp groups", "ws WarpSpecialize"),
    *_rows("alloc_barrier alloc_cluster_barrier", "barrier", "barrier_alloc", "numbers of arrivals"),
    *_rows("mbarrier_arrive barrier_arrive ptx_arrive_barrier cp_async_barrier_noinc", "barrier", "barrier_arrive", "a barrier"),
    *_rows("mbarrier_wait_parity barrier_wait ptx_wait_barrier", "barrier", "barrier_wait", "a barrier and a parity"),
    _row("mbarrier_expect_tx", "barrier", "", "a barrier and a number of bytes"),
    _row("mbarrier_arrive_expect_tx", "barrier", "barrier_arrive", "a barrier and a number of bytes"),
    _row("tma_copy", "async_op", "copy_region", "a tensor and a buffer"),
    *_rows("tma_store_arrive ptx_commit_group pdl_trigger pdl_sync", "async_op", "", ""),
    _row("ptx_cp_async", "pointer", "load", "two addresses and a number of elements"),
    _row("call_extern", "extern_op", "store", "the name of a decoder of tilelang.quantize and addresses"),
    _row("import_source", "extern_op", "", "what tilelang.quantize gives with that name"),
    *_rows("tma_store_wait ptx_wait_group", "async_op", "", "an int"),
    _row("wgmma_gemm", "warpgroup", "gemm_region", "buffers, regions"),
    *_rows("wait_wgmma warpgroup_wait", "warpgroup", "", "an int"),
    *_rows("warpgroup_arrive warpgroup_commit_batch warpgroup_fence_operand", "warpgroup", "", ""),
    _row("shuffle_elect", "warpgroup", "", "a number of threads"),
    _row("PersistentTileScheduler", "schedule", "", "numbers of tiles"),
    *_rows("WSSchedule WSRole WSPipeline WSScope WSSync WSInstr ws_op", "schedule", "", "parts of a schedule"),
    _row("annotate_ws_schedule", "schedule", "", "a schedule"),
    _row("ClusterKernel", "cluster", "program_id", "extents: ints or sizes"),
    _row("block_rank_in_cluster", "cluster", "program_id", ""),
    *_rows("cluster_arrive cluster_arrive_relaxed cluster_wait cluster_sync", "cluster", "", ""),
    _row("copy_cluster", "cluster", "copy_region", "a tensor and a buffer"),
)
# fmt: on

# Names of upstream, by the reason why those without a row are not offered.
REFUSED = {
    "barriers are made by T.alloc_barrier; copies are T.copy, T.tma_copy and T.async_copy":
        "mbarrier_init ptx_init_barrier_thread_count create_list_of_mbarrier get_mbarrier tma_load tma_store",
    "text of another language and its instructions cannot be compiled for every target":
        "CUDASourceCodeKernel call_intrin ptx_wgmma_ss ptx_wgmma_rs "
        "ptx_tma",
    "tensor memory and its instructions exist on GPUs of sm_100 only, which are no target":
        "alloc_tmem tcgen05_gemm tcgen05_gemm_blockscaled tcgen05_mma_arrive tcgen05_cp_warpx4 tma_gather4 tma_scatter4",
    "where elements lie in memory is the compiler's choice; results do not depend on it":
        "alloc_descriptor",
    "memory is named by tensors, buffers and regions; T.make_tensor gives one at an address":
        "decl_buffer match_buffer",
    "Tilery does not have it yet":
        "mma_gemm_blockscaled hypot ldexp nextafter",
}  # fmt: skip
