"""The languages' modules have upstream's paths."""

import importlib

import pytest

PLACES = {
    "tilelang": "jit compile par_compile JITKernel Profiler TensorSupplyType PassConfigKey cdiv dtypes language utils",
    "tilelang.language.dtypes": "float16 bfloat16 float8_e4m3fn int32 bool",
    "tilelang.language.allocate": "alloc_shared alloc_fragment alloc_local alloc_var empty",
    "tilelang.language.annotations": "use_swizzle annotate_layout annotate_safe_value",
    "tilelang.language.atomic": "atomic_add atomic_max atomic_min",
    "tilelang.language.builtin": "sync_threads set_max_nreg",
    "tilelang.language.copy_op": "copy",
    "tilelang.language.customize": "reshape view",
    "tilelang.language.eager": "macro prim_func const",
    "tilelang.language.eager.builder": "PrimFunc Macro Ref",
    "tilelang.language.fill_op": "fill clear",
    "tilelang.language.gemm_op": "gemm GemmWarpPolicy",
    "tilelang.language.kernel": "Kernel get_thread_binding",
    "tilelang.language.loop": "Parallel Persistent Pipelined serial unroll",
    "tilelang.language.print_op": "device_assert",
    "tilelang.language.proxy": "Tensor StridedTensor",
    "tilelang.language.reduce_op": "reduce reduce_max cumsum",
    "tilelang.language.symbolics": "dynamic",
    "tilelang.language.tir.op": "ceildiv if_then_else reinterpret",
    "tilelang.jit": "JITImpl jit compile",
    "tilelang.jit.kernel": "JITKernel",
    "tilelang.cuda.intrinsics": "get_swizzle_layout make_mma_swizzle_layout",
    "tilelang.intrinsics": "get_swizzle_layout make_mma_swizzle_layout",
    "tilelang.layout": "Layout make_linear_layout make_swizzled_layout make_wgmma_swizzled_layout",
    "tilelang.layout.swizzle": "make_full_bank_swizzled_layout make_half_bank_swizzled_layout",
    "tilelang.math": "cdiv next_power_of_2",
    "tilelang.profiler": "Profiler do_bench",
    "tilelang.profiler.bench": "do_bench",
    "tilelang.testing": "main requires_cuda requires_cuda_compute_version_eq requires_llvm requires_rocm set_random_seed",
    "tilelang.transform.pass_config": "PassConfigKey",
    "tilelang.tvm": "DataType IRModule TVMError error target tir tirx transform",
    "tilelang.tvm.error": "InternalError TVMError",
    "tilelang.tvm.target": "Target",
    "tilelang.tvm.tirx": "Buffer PrimExpr PrimFunc Var const reinterpret floordiv min",
    "tilelang.tvm.transform": "PassContext",
    "tilelang.utils.tensor": "TensorSupplyType torch_assert_close",
    "tileon": "jit autotune heuristics Config cdiv CompilationError InterpreterError OutOfResources compile compiler errors "
    "runtime backends",
    "tileon.backends": "Backend backends BaseBackend DriverBase",
    "tileon.backends.compiler": "BaseBackend GPUTarget",
    "tileon.backends.driver": "DriverBase",
    "tileon.compiler": "ASTSource CompiledKernel CompilationError compile make_backend",
    "tileon.compiler.compiler": "ASTSource CompiledKernel compile make_backend triton_key",
    "tileon.compiler.errors": "CompilationError",
    "tileon.errors": "TritonError",
    "tileon.language.core": "tensor dtype constexpr load store arange dot where add maximum atomic_add reduce float32",
    "tileon.language.standard": "cdiv sigmoid softmax zeros max argmax sum sort flip",
    "tileon.language.math": "exp log2 fma umulhi",
    "tileon.language.random": "rand randn philox",
    "tileon.language.extra.libdevice": "tanh pow",
    "tileon.language.extra.cuda.libdevice": "tanh pow",
    "tileon.language.extra.cuda.gdc": "gdc_wait gdc_launch_dependents",
    "tileon.language.extra.cuda.utils": "num_warps num_threads convert_custom_float8_sm80",
    "tileon.runtime": "driver Autotuner Config Heuristics JITFunction OutOfResources autotune heuristics",
    "tileon.runtime.autotuner": "Autotuner Config autotune",
    "tileon.runtime.driver": "driver",
    "tileon.runtime.errors": "OutOfResources PTXASError",
    "tileon.runtime.jit": "JITFunction KernelInterface jit reinterpret type_canonicalisation_dict",
    "tileon.testing": "do_bench do_bench_cudagraph perf_report Benchmark Mark assert_close get_dram_gbps nvsmi"
    " get_max_simd_tflops",
    "tileon.knobs": "runtime compilation cache autotuning language nvidia amd proton base_knobs HookChain refresh_knobs env_bool",
    "tileon.profiler.viewer": "parse print_tree",
    "tileon.profiler": "start finalize activate deactivate scope enter_scope exit_scope cpu_timed_scope profile",
    "tileon.runtime.cache": "FileCacheManager RemoteCacheManager get_cache_manager triton_key",
    "tileon.runtime.interpreter": "InterpretedFunction _implicit_cvt",
    "tileon._internal_testing": "numpy_random to_triton to_numpy is_cuda is_hip_cdna3 run_in_process default_alloc_fn",
    "tileon._utils": "canonicalize_dtype find_paths_if get_iterable_path type_canonicalisation_dict",
    "tileon._C.libtriton": "ir nvidia native_specialize_impl",
    "tileon.tools.mxfp": "MXFP4Tensor MXScaleTensor",
    "ninetoothed": "Tensor Symbol block_size jit make eval language",
    "ninetoothed.eval": "eval subs",
    "ninetoothed.make": "make",
    "ninetoothed.symbol": "Symbol block_size",
    "ninetoothed.tensor": "Tensor",
    "ninetoothed.language.libdevice": "tanh pow",
    "ninetoothed.naming": "make_meta remove_prefixes",
    "ninetoothed.generation": "CACHE_DIR CodeGenerator cache_source",
    "ninetoothed.visualization": "visualize visualize_arrangement",
    "ninetoothed.debugging": "simulate_arrangement",
    "ninetoothed.auto_tuner": "AutoTuner",
    "ninetoothed.utils": "calculate_default_configs",
}


@pytest.mark.parametrize("path", PLACES)
def test_place(path):
    module = importlib.import_module("tilery." + path)
    assert not [name for name in PLACES[path].split() if not hasattr(module, name)]


@pytest.mark.parametrize("path", ["core", "standard", "math", "random"])
def test_functions_of_tl_are_the_same_everywhere(path):
    from tilery.tileon import language as tl

    part = importlib.import_module("tilery.tileon.language." + path)
    for name in PLACES["tileon.language." + path].split():
        assert getattr(part, name) is getattr(tl, name)


def test_short_names_of_types():
    from tilery.tileon._utils import canonicalize_dtype, type_canonicalisation_dict

    for name, short in (("float16", "fp16"), ("fp16", "fp16"), ("int1", "i1"), ("uint8", "u8"), ("float8e5b16", "fp8e5b16")):
        assert type_canonicalisation_dict[name] == canonicalize_dtype(name) == short
