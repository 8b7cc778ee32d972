"""What programs may tell TileLang's compiler, profiler and tools in vain (core/ignored.py)."""

from ..core.ignored import Option

_TEXT = Option("no text of another language is compiled", (None, (), []))
_COMPILE = {
    "target": Option("a launch runs where its tensors are", (None, "auto")),
    "target_host": Option("what launches a kernel runs on this machine's processor", (None, "auto")),
    "execution_backend": Option("there is one way to call a kernel", (None, "auto")),
    "verbose": Option("TILERY_DUMP prints the stages of a compilation"),
    "compile_flags": _TEXT,
    "debug_root_path": Option("a kernel's `asm` and `get_kernel_source()` hold what was made"),
}
_ONE_CLOCK = Option("calls are timed in one way on each machine", ("event",))
_MODULE = Option("kernels and what launches them are one module")
_ELEMENTS = Option("the function takes it from its tensors")
_BENCH = {
    "backend": _ONE_CLOCK,
    "device": Option("calls are timed where they run"),
    "early_stop_baseline": Option("the time asked for is measured"),
}
_MODEL = Option("the time of such a program follows from what it reads")

# {function: {option: why}}
ROWS = {
    "tilelang.compile": _COMPILE,
    "tilelang.jit": _COMPILE,
    "tilelang.par_compile": _COMPILE,
    "tilelang.lower": {name: _COMPILE[name] for name in ("target", "target_host", "compile_flags")}
    | dict.fromkeys(
        ("runtime_only", "enable_host_codegen", "enable_device_compile"), Option("the IR is made, and code at the first call")
    ),
    "T.prim_func": {
        "private": Option("a function is known to who holds it"),
        "check_well_formed": Option("the IR is checked when it is made", (True,)),
    },
    "T.annotate_compile_flags": {"flags": _TEXT},
    "tilelang.JITKernel.get_kernel_source": {"kernel_only": _MODULE},
    "tilelang.JITKernel.show_source": {"which": _MODULE},
    "tilelang.Profiler.do_bench": _BENCH,
    "tilelang.profiler.do_bench": {**_BENCH, "fast_flush": Option("caches are emptied in one way", (True,))},
    "tilelang.autotune": {
        "cache_input_tensors": Option("all configurations are timed with the same tensors"),
        "backend": _ONE_CLOCK,
    },
    "tilelang.autotuner.AutotuneResult.save_to_disk": {"verbose": Option("a file is written without a word")},
    "tilelang.autotuner.AutotuneResult.load_from_disk": {
        "compile_args": Option("what was found is read; the code is not kept with it")
    },
    "tilelang.transform.apply_simplify": {"inline_let": Option("what is simple is simplified when a function is compiled")},
    "tilelang.transform.simplify_prim_func": {"inline_let": Option("what is simple is simplified when a function is compiled")},
    "tilelang.tvm.transform.PassContext": dict.fromkeys(
        ("opt_level", "config"), Option("a kernel takes its switches from pass_configs")
    ),
    "tilelang.tvm.tirx.const": {"span": Option("errors name the program's own line")},
    "tilelang.tvm.tirx.Let": {"span": Option("errors name the program's own line")},
    "tilelang.tvm.tir.all": {"span": Option("errors name the program's own line")},
    "tilelang.tvm.tir.any": {"span": Option("errors name the program's own line")},
    "tilelang.tvm.tir.call_intrin": {"span": Option("errors name the program's own line")},
    **{
        f"tilelang.engine.callback.register_{name}": {
            "override": Option("functions of generated text are never called: none is made", (True,))
        }
        for name in (
            "c_postproc",
            "c_postproc_callback",
            "cuda_postproc",
            "cuda_postproc_callback",
            "hip_postproc",
            "hip_postproc_callback",
            "metal_postproc_callback",
        )
    },
    "tilelang.layout.make_swizzled_layout": {
        "k_major": Option("which units are exchanged follows from a row's bytes", (True,)),
        "allow_pad": Option("a tile is never padded", (True,)),
    },
    "tilelang.layout.make_wgmma_swizzled_layout": {
        "k_major": Option("which units are exchanged follows from a row's bytes", (True,))
    },
    "tilelang.quantize.get_lop3_intrin_group": {"storage_dtype": _ELEMENTS, "storage_scope": _ELEMENTS},
    "tilelang.quantize.get_mxfp_intrin_group": {"storage_dtype": _ELEMENTS},
    "tilelang.carver.GEMVTemplate": dict.fromkeys(("out_dtype", "accum_dtype", "with_bias", "trans_B"), _MODEL),
    "tilelang.carver.MatmulTemplate": {"with_bias": _MODEL},
    "tilelang.utils.language.to_buffer_region": {"access_type": Option("a region names elements, not what is done with them")},
    "tilelang.utils.target.target_get_warp_size": {"target": Option("a warp of every machine here is 32 threads")},
    "tilelang.tvm.target.Target": {"host": Option("what launches a kernel runs on this machine's processor")},
    "tilelang.testing.torch_assert_close": {
        **dict.fromkeys(
            ("check_device", "check_dtype", "check_layout"),
            Option("values are compared, wherever and in whatever type they are", (True,)),
        ),
        "check_stride": Option("values are compared, wherever and in whatever type they are"),
        "verbose": Option("an error says how much differs, and nothing is printed else"),
        **dict.fromkeys(("base_name", "ref_name"), Option("an error says how much differs, and names no side", ("LHS", "Ref"))),
    },
    "tilelang.TensorCoreIntrinEmitter.mma_atom": {
        "k_inner": Option("memory of a thread's own holds the factors of one step along k", (None, 0))
    },
    "tilelang.tools.plot_layout": {
        "colormap": Option("elements of one thread, or of one bank, have one colour", (None, "RdPu")),
        "verbose": Option("a file is written without a word"),
    },
    "tilelang.set_log_level": {"level": Option("TILERY_DUMP says what is printed")},
}
