"""What Tileon and Triton programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option

_SCHEDULE = "what waits for what is found from the loop's loads and products"
_AHEAD = "how far loads run ahead is found from the loop's loads and products"
_NO_ROLES = "which warps bring tiles in and which compute is found from the kernel's loads and products"
_NOT_A_CPU = "CPUs have no blocks"
_AMD = "it is for GPUs of AMD, which kernels are not compiled for"
_THREADS = "a launch runs on as many threads as the process may use, or TILERY_NUM_THREADS says"
_ASSEMBLER = "the GPU's driver assembles code, which takes no options"
_DEVICE = "the device on which the tensors lie decides"
_TYPES = "each target takes all types of 8 bits"
_LOOPS = "a loop says it itself: tl.range(..., num_stages=)"
_INVARIANT = "what does not change in a loop is computed once, where that keeps its value"
_RUNS = "runs of elements are found from how the tile is computed"
_ORDER = "elements keep their order, which costs nothing"
_PURE = "what has an effect is known from its instructions, and kept"
_SYMBOLS = "symbols are those of libdevice, which is built in"
_EXACT = "functions are as exact with it as without"

# {function: {option: why}}
ROWS = {
    "kernel[grid]": {
        "num_warps": Option("how many threads run a program follows from its tiles and the device", (None, 4), "num_warps"),
        "maxnreg": Option("registers are dealt by what each role holds, and on a CPU by what there is", hint="maxnreg"),
        "launch_pdl": Option("a CPU's launches run one after the other", hint="launch_pdl"),
        "num_stages": Option(_LOOPS, (None, 3)),
        "num_ctas": Option(_NOT_A_CPU, (None, 1)),
        "cluster_dims": Option(_NOT_A_CPU, (None, (1, 1, 1), [1, 1, 1])),
        "warp_size": Option(_DEVICE),
        "num_buffers_warp_spec": Option(_SCHEDULE, (None, 0)),
        "num_consumer_groups": Option(_NO_ROLES, (None, 0)),
        "reg_dec_producer": Option(_NO_ROLES, (None, 0)),
        "reg_inc_consumer": Option(_NO_ROLES, (None, 0)),
        "ptx_version": Option("PTX is of the version that its instructions need"),
        "ptx_options": Option(_ASSEMBLER, (None, "")),
        "enable_reflect_ftz": Option("no function flushes small numbers to 0", (None, True)),
        "supported_fp8_dtypes": Option(_TYPES),
        "deprecated_fp8_dot_operand_dtypes": Option(_TYPES, (None, ())),
        "extern_libs": Option("libdevice is built in, and no other library's functions can be called", (None, (), {})),
        "arch": Option(_DEVICE, (None, "")),
        "backend_name": Option(_DEVICE, (None, "")),
        "waves_per_eu": Option(_AMD, (None, 0, 1)),
        "matrix_instr_nonkdim": Option(_AMD, (None, 0)),
        "kpack": Option(_AMD, (None, 1)),
        "num_cpu_threads": Option(_THREADS, (None, 0)),
        "num_threads": Option(_THREADS, (None, 0)),
        "assume_in_bounds": Option("an access reads and writes what its mask says, and nothing is added to it"),
        "ukernels": Option("products are compiled with the code around them"),
        "generate_native_code": Option("all code is the processor's own"),
        "vec_lib": Option("vector functions are compiled with the code around them"),
        "enable_fast_math": Option(_EXACT, (None, True)),
    },
    "knobs.compilation": {
        "dump_ir_extract_di_local_variables": Option("code says nothing of variables to debuggers"),
        "store_binary_only": Option("the disk cache holds code alone"),
        "use_ir_loc": Option("lines are those of the program"),
        "disable_line_info": Option("lines cost the code nothing"),
    },
    "knobs.autotuning": {"adam_timeout": Option("a configuration is timed for as long as `rep` says")},
    "knobs.runtime": {"override_arch": Option(_DEVICE)},
    "knobs.nvidia": {
        "nvdisasm": Option("cuobjdump lists instructions"),
        "ptxas": Option(_ASSEMBLER),
        "ptxas_blackwell": Option(_ASSEMBLER),
        "disable_ptxas_opt": Option(_ASSEMBLER),
        "ptxas_options": Option(_ASSEMBLER),
        "mock_ptx_version": Option("PTX is of the version that its instructions need"),
        "libdevice_path": Option(_SYMBOLS),
        "libcuda_path": Option("the driver is the one that the system's loader finds"),
    },
    "knobs.amd": {
        "use_buffer_ops": Option(_AMD),
        "use_buffer_atomics": Option(_AMD),
        "dump_amdgcn": Option(_AMD),
        "libhip_path": Option(_AMD),
        "use_block_pingpong": Option(_AMD),
        "use_in_thread_transpose": Option(_AMD),
        "use_async_copy": Option(_AMD),
        "scalarize_packed_fops": Option(_AMD),
    },
    "knobs.proton": {
        "cupti_lib_dir": Option("launches are timed by the host, without CUPTI"),
        "enable_nvtx": Option("no ranges are told to NVIDIA's profilers"),
    },
    "tileon.jit": {
        "version": Option("kernels are told apart by their source"),
        "do_not_specialize_on_alignment": Option("each alignment that calls bring gets code of its own"),
        "noinline": Option("what a kernel calls becomes part of it"),
    },
    "tileon.compile": {"_env_vars": Option("variables are read from the environment", (None, {}))},
    "tileon.compiler.ASTSource.make_ir": dict.fromkeys(
        ("options", "codegen_fns", "module_map", "context"), Option("which arguments a kernel writes does not depend on it")
    ),
    "tl.range": {
        "num_stages": Option(_AHEAD, (None, 0), "num_stages"),
        "loop_unroll_factor": Option("the loop runs once, is part of a product, or would be too long", (None, 0, 1), "unroll"),
        "disallow_acc_multi_buffer": Option("sums stay in registers, in one buffer"),
        "flatten": Option(_SCHEDULE),
        "warp_specialize": Option(_SCHEDULE),
        "disable_licm": Option(_INVARIANT),
    },
    "tl.condition": {"disable_licm": Option(_INVARIANT)},
    "tl.max_contiguous": {"values": Option(_RUNS, (None, 1))},
    "tl.max_constancy": {"values": Option(_RUNS, (None, 1))},
    "tl.assume": {"cond": Option("code is right whether or not it holds; launches with debug=True check it")},
    "tl.dot_scaled": {"fast_math": Option("scales that are NaN or beyond the range are always heeded")},
    "tl.reshape": {"can_reorder": Option(_ORDER)},
    "tl.ravel": {"can_reorder": Option(_ORDER)},
    "tl.cat": {"can_reorder": Option(_ORDER)},
    "tl.make_block_ptr": {"order": Option("which elements lie side by side is found from the strides")},
    "tl.inline_asm_elementwise": {"is_pure": Option(_PURE, (None, True))},
    "tl.map_elementwise": {"is_pure": Option(_PURE, (None, True))},
    "tl.extern_elementwise": {
        "lib_name": Option(_SYMBOLS, (None, "", "libdevice")),
        "lib_path": Option(_SYMBOLS, (None, "")),
        "is_pure": Option(_PURE, (None, True)),
    },
    "tl.softmax": {"keep_dims": Option("the result has the tile's shape, each element over its own sum", (None, False, True))},
}
