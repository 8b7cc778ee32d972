"""The functions of tl that are written out, one row each; the elementwise ones are in the table of functions."""

from ..functions.row import Written


def _row(name: str, place: str, operation: str, takes: str, names: str | None = None) -> Written:
    return Written(name, f"core.tile.{place}", operation, takes, tl=names or name)


def _rows(names: str, *columns: str) -> list[Written]:
    """Functions that differ by nothing but their names."""
    return [_row(name, *columns) for name in names.split()]


# fmt: off
MATH = (
    _row("softmax", "math", "reduce, exp", "fp32, fp64"),
    _row("cdiv", "math", "//", "integers, also the host's"),
    _row("swizzle2d", "math", "//, %", "integers"),
)

RANDOM = (
    *_rows("philox rand rand4x randn randn4x randint randint4x", "random", "mulhi", "32- and 64-bit integers"),
    _row("philox_impl", "random", "mulhi", "uint32, uint64"),
    _row("uint_to_uniform_float", "random", "cast", "32- and 64-bit integers"),
    _row("pair_uniform_to_normal", "random", "log, sqrt, cos", "fp32"),
)

ROWS = (
    *MATH,
    *RANDOM,

    # Programs and tiles made of nothing.
    _row("program_id", "creation", "program_id", "an axis"),
    _row("num_programs", "creation", "num_programs", "an axis"),
    _row("arange", "creation", "arange", "constant ints"),
    _row("full", "creation", "full", "a shape, a number or scalar, a type"),
    _row("zeros", "creation", "full", "a shape, a type"),
    _row("zeros_like", "creation", "full", "any tile"),
    _row("cast", "creation", "cast, bitcast", "any tile"),
    _row("to_tensor", "value", "materialize", "any tile or number"),

    # Memory.
    _row("load", "memory", "load", "pointers, block pointers"),
    _row("store", "memory", "store", "pointers, block pointers"),
    _row("atomic_add", "memory", "atomic_rmw", "pointers to 32- and 64-bit integers and floats but fp8"),
    *_rows("atomic_max atomic_min", "memory", "atomic_rmw", "pointers to 32- and 64-bit numbers"),
    *_rows("atomic_and atomic_or atomic_xor", "memory", "atomic_rmw", "pointers to 32- and 64-bit integers"),
    _row("atomic_xchg", "memory", "atomic_rmw", "pointers to 32- and 64-bit numbers"),
    _row("atomic_cas", "memory", "atomic_cas", "pointers to numbers"),
    _row("make_block_ptr", "window", "root, view", "a pointer and ints"),
    _row("advance", "window", "view", "a block pointer and ints"),
    _row("make_tensor_descriptor", "window", "root, view", "a pointer and ints"),
    _row("load_tensor_descriptor", "window", "load_place", "a descriptor and ints"),
    _row("store_tensor_descriptor", "window", "store_place", "a descriptor, ints, any tile"),

    # Shapes and order.
    _row("broadcast", "shape", "broadcast", "any tiles"),
    _row("broadcast_to", "shape", "broadcast_to", "any tile"),
    _row("expand_dims", "shape", "expand_dims", "any tile"),
    _row("squeeze", "shape", "reshape", "any tile"),
    _row("unsqueeze", "shape", "expand_dims", "any tile"),
    *_rows("reshape view ravel", "shape", "reshape", "any tile"),
    *_rows("permute trans transpose", "shape", "permute", "any tile"),
    _row("flip", "shape", "take", "any tile"),
    _row("join", "shape", "join", "any tiles"),
    _row("split", "shape", "split", "any tile"),
    _row("interleave", "shape", "join, reshape", "any tiles"),
    _row("cat", "shape", "cat", "any tiles"),
    _row("gather", "shape", "take", "any tile, integers"),
    _row("where", "shape", "select", "a condition, any tiles"),

    # Reductions, scans, order, products.
    _row("sum", "reduction", "reduce sum", "numbers"),
    _row("max", "reduction", "reduce max", "numbers"),
    _row("min", "reduction", "reduce min", "numbers"),
    *_rows("argmax argmin", "reduction", "arg_reduce", "numbers"),
    _row("xor_sum", "reduction", "reduce xor", "integers"),
    _row("reduce_or", "reduction", "reduce or", "integers"),
    _row("reduce", "reduction", "reduce_begin, reduce_end", "any tile or a tuple of them"),
    _row("associative_scan", "reduction", "scan_begin, scan_end", "any tile or a tuple of them"),
    _row("cumsum", "reduction", "scan sum", "numbers"),
    _row("cumprod", "reduction", "scan prod", "numbers"),
    _row("sort", "reduction", "sort", "numbers"),
    _row("topk", "reduction", "sort, take", "numbers"),
    _row("bitonic_merge", "reduction", "take, select", "numbers"),
    _row("histogram", "reduction", "histogram", "integers"),
    _row("dot", "reduction", "dot", "fp8, fp16, bf16, fp32, fp64, int8"),
    _row("dot_scaled", "scaled", "dot", "uint8, fp8, fp16, bf16"),
    _row("inline_asm_elementwise", "ptx", "what the instructions are", "any tiles, PTX"),
    _row("extern_elementwise", "extern", "libdevice", "any tiles, a table of symbols"),
    *_rows("extern builtin", "extern", "", "a function"),
    _row("map_elementwise", "per_lane", "select", "a function and any tiles"),
    # Loops, hints, checks.
    _row("range", "control", "for", "integers"),
    _row("static_range", "control", "", "constant ints"),
    _row("condition", "control", "", "a scalar condition"),
    *_rows("multiple_of max_contiguous max_constancy", "control", "", "any tile"),
    _row("assume", "control", "", "a scalar condition"),
    _row("debug_barrier", "control", "kernel_hints", ""),
    _row("static_print", "debug", "", "anything"),
    _row("static_assert", "debug", "", "a constant condition"),
    _row("device_print", "debug", "print", "any tiles"),
    _row("expect_zero", "debug", "assert_true", "any tile, conditions"),
    _row("device_assert", "debug", "assert_true", "conditions"),
)
# fmt: on

LIBDEVICE = [Written(name, "core.tile.bessel", "for", "integers, fp32 or fp64", libdevice=name) for name in ("jn", "yn")]

# Names of upstream, by the reason why those without a row are not offered.
REFUSED = {
    "text of another language and its instructions cannot be compiled for every target": "dispatch",
}
