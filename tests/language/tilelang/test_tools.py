"""Autotuning, hints from the model, pictures of layouts, counted work, and packages that programs import."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import tilery.tilelang as tilelang
from tilery import _native
from tilery.tilelang import autotuner, cache, carver, tools
from tilery.tilelang import language as T
from tilery.tilelang.contrib import nvcc
from tilery.tilelang.jit import prepare
from tilery.tilelang.jit.kernel import JITKernel
from tilery.tilelang.layout import make_gemm_fragment_8x8, make_linear_layout
from tilery.tilelang.tracing.program import usual_layouts


def matmul(M, N, K, block_M=32, block_N=32, block_K=16):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M)) as (bx, by):
            A_s, B_s = T.alloc_shared((block_M, block_K), "float16"), T.alloc_shared((block_K, block_N), "float16")
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_s)
                T.copy(B[k * block_K, bx * block_N], B_s)
                T.gemm(A_s, B_s, acc)
            T.copy(acc, C[by * block_M, bx * block_N])

    return main


CONFIGS = [{"block_M": 16}, {"block_M": 64, "pass_configs": {"tl.enable_fast_math": True}}]


def test_the_decorator_chooses_once():
    timed = []
    tuned = autotuner.autotune(
        configs=lambda M, N, K: timed.append((M, N, K)) or CONFIGS, warmup=1, rep=1, ref_prog=lambda a, b: a.float() @ b.float()
    )(tilelang.jit(out_idx=-1)(matmul))
    a, b = torch.randint(-3, 4, (70, 40)).half(), torch.randint(-3, 4, (40, 50)).half()
    with autotuner.set_autotune_inputs(a, b):
        kernel = tuned(70, 50, 40)
    assert kernel.config in CONFIGS and kernel.latency > 0 and kernel.ref_latency > 0
    assert (kernel(a, b) == a.float() @ b.float()).all()
    assert tuned(70, 50, 40, block_M=32) is tuned(70, 50, 40, block_M=32)  # nothing is left to choose
    with autotuner.set_autotune_inputs(a, b):
        assert tuned(70, 50, 40).config == kernel.config


def test_what_a_call_sets_is_not_chosen():
    tuned = autotuner.autotune(configs=[{"block_M": 16, "block_N": 16}, {"block_M": 64, "block_N": 8}], warmup=1, rep=1)(
        tilelang.jit(out_idx=-1)(matmul)
    )
    plain = tilelang.jit(out_idx=-1)(matmul)(128, 64, 32, 128, 32).get_kernel_source()
    for kernel in (tuned(128, 64, 32, block_M=128), tuned(128, 64, 32, 128), tuned(128, 64, 32, block_N=32, block_M=128)):
        assert kernel.get_kernel_source() == plain  # 32 is block_N's default


def test_configurations_fill_in_what_has_no_default():
    @autotuner.autotune(configs=[{"block": 8, "scale": 1}, {"block": 16, "scale": 1}], warmup=1, rep=1)
    @tilelang.jit(out_idx=-1)
    def scaled(n, scale, block):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, block)) as bx:
                for i in T.Parallel(block):
                    B[bx * block + i] = A[bx * block + i] * scale

        return main

    fixed = [scaled(64, scale=3, block=block) for block in (4, 32)]
    named = [scaled(64, block=block).get_kernel_source() for block in (4, 32)]  # one after the other: each is its own choice
    assert named == [scaled(64, 1, block).get_kernel_source() for block in (4, 32)] and fixed[0] is not fixed[1]
    for kernel in (scaled(64, scale=3), scaled(64, 3)):
        assert (kernel(torch.arange(64.0)) == 3 * torch.arange(64.0)).all()
        assert kernel.config["block"] in (8, 16)


def test_an_eager_call_that_tunes_updates_its_tensors_once():
    """Candidates are timed on copies, of which one tensor that is given twice stays one."""

    @autotuner.autotune(configs=[{"block": 8}, {"block": 16}, {"block": 32}], warmup=1, rep=1)
    @tilelang.jit
    def add_to(x, y, z, block=4):
        N = T.const("N")
        x: T.Tensor[[N], T.float32]
        y: T.Tensor[[N], T.float32]
        z: T.Tensor[[N], T.float32]
        with T.Kernel(T.ceildiv(N, block), threads=block) as b:
            for i in T.Parallel(block):
                y[b * block + i] += x[b * block + i]
                z[b * block + i] -= x[b * block + i]

    x, y, z = torch.randn(64), torch.zeros(64), torch.ones(64)
    add_to(x, y, z)
    torch.testing.assert_close(y, x, rtol=0, atol=0)
    torch.testing.assert_close(z, 1 - x, rtol=0, atol=0)
    add_to(x, y, z)
    torch.testing.assert_close(y, 2 * x, rtol=0, atol=0)
    both = torch.ones(64)
    add_to(x, both, both)  # adds and takes away, in whichever order
    torch.testing.assert_close(both, torch.ones(64))


def test_the_tuner_checks_results():
    tuner = autotuner.AutoTuner.from_kernel(kernel=lambda **config: matmul(32, 32, 32, **config), configs=CONFIGS)
    tuner.set_compile_args(out_idx=[-1]).set_profile_args(ref_prog=lambda a, b: a.float() @ b.float())
    result = tuner.run(warmup=1, rep=1)
    assert result.config in CONFIGS and result.kernel.latency == result.latency > 0 and result.ref_latency > 0
    tuner.set_profile_args(ref_prog=lambda a, b: a.float() @ b.float() + 1)
    with pytest.raises(RuntimeError, match="no configuration could be run; .*elements differ"):
        tuner.run(warmup=1, rep=1)


def test_scalars_need_inputs():
    @autotuner.autotune(configs=[{"block": 8}, {"block": 16}], warmup=1, rep=1)
    @tilelang.jit
    def add(n=64, block=8):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), s: T.float32):
            with T.Kernel(T.ceildiv(n, block)) as bx:
                for i in T.Parallel(block):
                    A[bx * block + i] += s

        return main

    with pytest.raises(ValueError, match="cannot make up inputs for scalars .*\n  hint: .*set_autotune_inputs"):
        add()


def test_profiler_of_run_time_sizes():
    m = T.dynamic("m")
    profiler = tilelang.compile(matmul(m, 32, 32), out_idx=-1).get_profiler()
    assert profiler.do_bench(dynamic_symbolic_constraints={"m": 48}, warmup=1, rep=1) > 0
    with pytest.raises(ValueError, match="the profiler does not know the size m of `A`"):
        profiler.do_bench()


def test_par_compile_in_order():
    kernels = tilelang.par_compile([matmul(n, n, n) for n in (16, 32, 48)], out_idx=-1)
    for n, kernel in zip((16, 32, 48), kernels):
        a = torch.eye(n).half()
        assert (kernel(a, a) == torch.eye(n)).all()


def test_threads_compile_one_kernel_and_others_for_a_gpu():
    kernels = [tilelang.compile(matmul(n, n, n), out_idx=-1) for n in (64, 128)]
    modules = [kernel.traced(usual_layouts(kernel.prim_func.params, kernel.out_idx)).module for kernel in kernels] * 8
    with ThreadPoolExecutor(len(modules)) as pool:
        images = list(pool.map(lambda module: _native.compile(module, target="sm_90a").image.to_bytes(), modules))
    assert len(set(images)) == 2


def test_a_kernel_of_several_configurations_is_prepared_once(monkeypatch):
    prepared = []
    monkeypatch.setattr(JITKernel, "prepare", lambda self: prepared.append(self))
    made = tilelang.jit(matmul, out_idx=-1)
    kernels = [made.compile(16, n, 16) for n in (16, 32, 16)]
    assert prepare(kernels) == prepared == kernels[:2]


def test_hints_of_the_model():
    template = carver.MatmulTemplate(512, 512, 512, in_dtype="float16", out_dtype="float16", accum_dtype="float32")
    hints = template.with_arch(carver.arch.CUDA("cuda")).recommend_hints(5)
    assert len(hints) == 5 and hints == sorted(hints, key=lambda hint: hint.seconds)
    for hint in hints:
        assert all(block % warp == 0 for block, warp in zip(hint.block, hint.warp)) and hint.rstep and hint.pipeline_stage >= 1
        stage = sum(hint.block) * hint.rstep[0] * 2
        assert stage * hint.pipeline_stage <= hint.arch.smem_cap
    assert carver.ElementwiseTemplate([1024, 1024], "float32").recommend_hints(3)
    assert carver.GeneralReductionTemplate("SR", [64, 4096]).recommend_hints(1)[0].rstep
    assert carver.GEMVTemplate(1024, 1024).recommend_hints(1)[0].block
    a, b = torch.randint(-3, 4, (40, 24)).half(), torch.randint(-3, 4, (50, 24)).half()
    function = carver.MatmulTemplate(40, 50, 24, accum_dtype="float32", out_dtype="float32").equivalent_function()
    assert (tilelang.compile(function, out_idx=-1)(a, b) == a.float() @ b.float().T).all()
    assert carver.arch.driver.get_num_sms() >= 1


def test_pictures_of_layouts(tmp_path):
    path = tools.plot_layout(make_gemm_fragment_8x8(), str(tmp_path), "fragment")
    words = re.findall(r">(T\d+|L\d+)<", (tmp_path / "fragment.svg").read_text())
    assert path == str(tmp_path / "fragment.svg") and len(words) == 128 and words[:4] == ["T0", "L0", "T0", "L1"]
    tile = type("Tile", (), {"shape": (2, 3), "dtype": "float16"})
    assert "1,2" in open(tools.plot_layout(make_linear_layout(tile), str(tmp_path), formats="pdf, svg")).read()
    with pytest.raises(NotImplementedError, match="plot_layout writes SVG, not png, pdf"):
        tools.plot_layout(make_linear_layout(tile), str(tmp_path), formats=["png", "pdf"])
    with pytest.raises(NotImplementedError, match="not view='output'"):
        tools.plot_layout(make_linear_layout(tile), str(tmp_path), view="output")


@pytest.mark.parametrize(
    "name, text",
    [
        ("version.json", '{"cuda_nvcc": {"version": "12.6.20"}, "cuda": {"name": "CUDA SDK", "version": "12.6.1"}}'),
        ("version.txt", "CUDA Version 12.6.85\n"),
    ],
)
def test_versions_of_toolkits(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert nvcc.get_cuda_version(str(tmp_path)) == (12, 6) and nvcc.get_cuda_version() >= (11, 0)
    with pytest.raises(RuntimeError, match="no toolkit of CUDA in '/there'"):
        nvcc.get_cuda_version("/there")


def test_kernels_are_kept_by_what_their_functions_were_made_for():
    function = matmul(64, 96, 32)
    first = cache.cached(function, -1, 64, 96)
    assert cache.cached(function, -1, 64, 96) is first is not cache.cached(function, -1, 64, 32)


def test_counted_work():
    result = tools.Analyzer.analysis(matmul(64, 96, 32), carver.arch.CUDA("cuda"))
    blocks = 2 * 3
    assert result.total_flops == 2 * 64 * 96 * 32
    assert result.total_global_bytes == blocks * (2 * (32 * 16 + 16 * 32) * 2 + 32 * 32 * 4) and result.estimated_time > 0


def test_the_disk_cache_can_be_switched_off():
    assert tilelang.is_cache_enabled()
    tilelang.disable_cache()
    try:
        assert not tilelang.is_cache_enabled()
        a = torch.eye(16).half()
        assert (tilelang.compile(matmul(16, 16, 16), out_idx=-1)(a, a) == torch.eye(16)).all()
    finally:
        tilelang.enable_cache()
    assert tilelang.env.is_cache_enabled()


REFUSED = ("analysis.Verifier", "engine.phase", "contrib.cutlass", "rocm.language", "jit.adapter.CythonKernelAdapter")


@pytest.mark.parametrize("name", REFUSED)
def test_refused_names_say_why(name):
    path, _, last = name.rpartition(".")
    module = __import__(f"tilery.tilelang.{path}", fromlist=[last])
    with pytest.raises(AttributeError, match=f"tilelang[.]{path}[.]{last} is not supported\n  hint: "):
        getattr(module, last)


def test_configurations_made_from_a_calls_two_parts():
    asked = []

    def configs(args, kwargs):
        asked.append((args, kwargs))
        return CONFIGS

    tuned = autotuner.autotune(configs=configs, warmup=1, rep=1)(tilelang.jit(out_idx=-1)(matmul))
    assert tuned(70, 50, K=40).config in CONFIGS and asked == [((70, 50), {"K": 40})]


def test_a_library_runs_without_its_program(tmp_path):
    m = T.dynamic("m")

    @T.prim_func
    def scaled(A: T.Tensor((m, 64), "float16"), factor: T.float32, C: T.Tensor((m, 64), "float16")):
        with T.Kernel(m, threads=64) as row:
            for i in T.Parallel(64):
                C[row, i] = A[row, i] * factor

    tilelang.compile(scaled, out_idx=[-1]).export_library(tmp_path / "scaled.so")
    module = tilelang.tvm.runtime.load_module(tmp_path / "scaled.so")
    for a in (torch.randn(5, 64).half(), torch.randn(3 * 64 + 3).half()[3:].view(3, 64), torch.randn(3, 131).half()[:1, 3:67]):
        c = torch.empty(len(a), 64, dtype=torch.half)
        module["scaled"](a, 2.5, c)
        assert torch.equal(c, a * 2.5)
        module.main(a, -1, c)
        assert torch.equal(c, -a)
    with pytest.raises(ValueError, match=r"strides\[0\] has an unsatisfied constraint: 1 == 64"):
        module.scaled(torch.randn(64, 5).half().t(), 1.0, torch.empty(5, 64).half())
    with pytest.raises(TypeError, match="expected a float16 tensor"):
        module.scaled(torch.zeros(5, 64), 1.0, c)
    with pytest.raises(AttributeError, match="no function `other`"):
        module["other"]


def test_the_ptx_of_a_kernel(tmp_path, capsys):
    kernel = tilelang.compile(matmul(64, 64, 32), out_idx=[-1])
    kernel.show_ptx()
    kernel.export_ptx(tmp_path / "code.ptx")
    shown, written = capsys.readouterr().out, (tmp_path / "code.ptx").read_text()
    assert shown.strip() == written.strip() and ".entry main" in written and ".target sm_" in written
    with pytest.raises(NotImplementedError, match="export_ptx"):
        kernel.show_sass()


def test_the_environment(monkeypatch):
    from tilery.tilelang.env import CUDA_HOME, TILELANG_CACHE_DIR, env

    assert tilelang.env is env and CUDA_HOME == "" and TILELANG_CACHE_DIR == _native.cache_folder()
    assert env.TILELANG_PRINT_ON_COMPILATION == "1" and env.is_print_on_compilation_enabled()
    monkeypatch.setenv("TILELANG_PRINT_ON_COMPILATION", "0")
    assert env.TILELANG_PRINT_ON_COMPILATION == "0" and not env.is_print_on_compilation_enabled()
    monkeypatch.setenv("TILELANG_CACHE_DIR", "/somewhere")
    assert env.TILELANG_TMP_DIR == "/somewhere/tmp"
    with pytest.raises(AttributeError):
        env.NO_SUCH_FOLDER


def test_what_programs_ask_of_a_profiler_and_a_function(capsys):
    function = matmul(64, 64, 32)
    kernel = tilelang.compile(function, out_idx=[-1])
    profiler = kernel.get_profiler()
    inputs = profiler._get_inputs()
    assert torch.equal(profiler(*inputs), kernel(*inputs)) and profiler.result_idx == [2]
    assert [kind.shape for kind in profiler.params] == [(64, 32), (32, 64), (64, 64)]
    assert [tuple(t.shape) for t in profiler._get_params(with_output=True)] == [(64, 32), (32, 64), (64, 64)]
    function.show()
    assert "tile.kernel @main" in capsys.readouterr().out
