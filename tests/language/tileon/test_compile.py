"""Kernels compiled before they are called: compile(ASTSource(...)), and launches of the result."""

import os
import pickle

import pytest
import torch

import tilery.tileon as triton
import tilery.tileon.language as tl
from tilery import _native
from tilery.tileon.backends import backends
from tilery.tileon.backends.compiler import GPUTarget
from tilery.tileon.compiler import ASTSource, make_backend
from tilery.tileon.runtime import KernelInterface, driver

TAIL = (0, None, None, None, None, None)  # stream, function, metadata, what hooks are told, the hooks


@triton.jit
def scaled(x, y, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


SIGNATURE = {"x": "*fp32", "y": "*fp32", "factor": "fp32", "n": "i32", "BLOCK": "constexpr"}


@triton.jit
def shifted(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for _ in range(3):
        tl.store(y + i, tl.load(x + i) + 1)


@triton.jit
def checked(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.device_assert(value >= 0, "a negative one")
    tl.store(y + i, value)


@triton.jit
def types_of(a, b, c, d, e, out):
    tl.static_assert(a.dtype == tl.int64 and b.dtype == tl.uint8 and c.dtype == tl.float64 and d.dtype == tl.int1)
    tl.static_assert(e.dtype.element_ty == tl.bfloat16)
    tl.store(out, tl.load(e).to(tl.float64) + a + b + c + d)


def run(compiled, grid, *args):
    compiled.run(*grid, *TAIL, *args)


@pytest.fixture
def target(device):
    return GPUTarget("cpu", "", 1) if device == "cpu" else driver.active.get_current_target()


def compiled_scaled(target):
    return triton.compile(ASTSource(scaled, SIGNATURE, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]}), target=target)


def test_result_launches(target):
    x, y = torch.randn(100), torch.zeros(100)
    run(compiled_scaled(target), (2, 1, 1), x, y, 2.5, 100, 64)
    assert torch.equal(y, x * 2.5)


def test_result_has_what_launchers_ask(target):
    options = {"num_warps": 8, "num_stages": 2}
    compiled = triton.compile(ASTSource(scaled, SIGNATURE, {"BLOCK": 64}), target=target, options=options)
    assert compiled.src.fn is scaled and compiled.name == compiled.metadata.name == "scaled"
    assert (compiled.metadata.num_warps, compiled.metadata.num_stages, compiled.metadata.num_ctas) == (8, 2, 1)
    assert compiled.metadata.target == target and compiled.metadata.cluster_dims == (1, 1, 1)
    assert len(bytes.fromhex(compiled.hash)) == 32 and compiled.hash == compiled.metadata.hash
    assert compiled.hash != compiled_scaled(target).hash == compiled_scaled(target).hash
    assert "tile.load" in compiled.asm["tile"]


def test_constants_by_name_position_and_path(target):
    for constants in ({"BLOCK": 64}, {4: 64}, {(4,): 64}):
        assert triton.compile(ASTSource(scaled, SIGNATURE, constants), target=target).hash == triton.compile(
            ASTSource(scaled, {i: t for i, t in enumerate(SIGNATURE.values())}, {"BLOCK": 64}), target=target
        ).hash


def test_types_are_those_of_the_source(target):
    signature = {"a": "i64", "b": "u8", "c": "fp64", "d": "i1", "e": "*bf16", "out": "*fp64"}
    compiled = triton.compile(ASTSource(types_of, signature), target=target)
    out = torch.zeros(1, dtype=torch.float64)
    run(compiled, (1, 1, 1), 2**40, 200, 0.1, True, torch.tensor([1.5], dtype=torch.bfloat16), out)
    assert out.item() == 1.5 + 2**40 + 200 + 0.1 + 1


def without_function(compiled):
    """The same in another process, where the function is not."""
    state = {**compiled.__dict__, "function": None, "src": None}
    other = triton.CompiledKernel.__new__(triton.CompiledKernel)
    other.__dict__.update(pickle.loads(pickle.dumps(state)))
    return other


@pytest.mark.parametrize("pickled", [False, True])
def test_pointers_that_lie_worse_get_code_for_them(target, pickled):
    """Vectors of 16 bytes, of a pointer that does not divide by 16, are another kernel's."""
    aligned = [["tt.divisibility", 16]]
    compiled = triton.compile(ASTSource(scaled, SIGNATURE, {"BLOCK": 64}, {(0,): aligned, (1,): aligned}), target=target)
    compiled = without_function(compiled) if pickled else compiled
    x, y = torch.randn(101), torch.zeros(101)
    for shift in (0, 1):
        run(compiled, (2, 1, 1), x[shift:], y[shift:], 2.0, 100, 64)
        assert torch.equal(y[shift : shift + 100], x[shift : shift + 100] * 2)


@pytest.mark.parametrize("pickled", [False, True])
def test_overlapping_arguments_get_code_for_them(target, pickled):
    """What is stored is seen by the loads that follow."""
    source = ASTSource(shifted, {"x": "*fp32", "y": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    compiled = triton.compile(source, target=target)
    compiled = without_function(compiled) if pickled else compiled
    x, y = torch.randn(64), torch.zeros(64)
    run(compiled, (1, 1, 1), x, y, 64)
    assert torch.equal(y, x + 1)
    want = x + 1 + 1 + 1
    run(compiled, (1, 1, 1), x, x, 64)
    assert torch.equal(x, want)


def test_debug_means_assertions(target):
    source = ASTSource(checked, {"x": "*fp32", "y": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 4})
    x, y = torch.tensor([1.0, -2.0, 3.0, 4.0]), torch.zeros(4)
    run(triton.compile(source, target=target), (1, 1, 1), x, y, 4)
    assert torch.equal(x, y)
    with pytest.raises(Exception, match="a negative one"):
        run(triton.compile(source, target=target, options={"debug": True}), (1, 1, 1), x, y, 4)
        if x.is_cuda:
            torch.cuda.synchronize()
            run(triton.compile(source, target=target), (1, 1, 1), x, y, 4)


def test_hooks_of_a_launch(target):
    compiled, told = compiled_scaled(target), []
    x, y = torch.randn(10), torch.zeros(10)
    about = compiled.launch_metadata((1, 1, 1), 0, x, y, 2.0, 10, 64)

    def hook(when):
        return lambda m: told.append((when, m.get()["name"], m.get()["grid"], y.any().item()))

    hooks = [hook(when) for when in ("before", "after")]
    compiled.run(1, 1, 1, 0, None, None, about, *hooks, x, y, 2.0, 10, 64)
    assert told == [("before", "scaled", (1, 1, 1), False), ("after", "scaled", (1, 1, 1), True)]


@pytest.mark.skipif(bool(os.environ.get("TILERY_EMULATE")), reason="needs an NVIDIA GPU that is not emulated, or none")
def test_code_for_a_gpu_needs_none():
    for arch in (80, 90):
        compiled = triton.compile(ASTSource(scaled, SIGNATURE, {"BLOCK": 64}), target=GPUTarget("cuda", arch, 32))
        assert f"sm_{arch}".encode() in _native.CodeImage(compiled.code).object


def test_wrong_sources(target):
    with pytest.raises(TypeError, match="parameter `n` of scaled has the type 'int'"):
        triton.compile(ASTSource(scaled, {**SIGNATURE, "n": "int"}, {"BLOCK": 64}), target=target)
    with pytest.raises(ValueError, match="no parameter 'SIZE'"):
        ASTSource(scaled, SIGNATURE, {"SIZE": 64})
    with pytest.raises(RuntimeError, match="no compiler for GPUTarget"):
        make_backend(GPUTarget("hip", "gfx942", 64))


def test_backends_and_the_active_driver(target):
    assert backends["cpu"].driver.is_active() and backends["nvidia"].driver.is_active() == (_native.gpu_count() > 0)
    before = driver.active
    try:
        driver.set_active(backends["cpu"].driver())
        assert isinstance(driver.active, backends["cpu"].driver) and driver.active.get_current_target().backend == "cpu"
        assert driver.active.get_active_torch_device().type == "cpu"
    finally:
        driver.set_active(before)
    backend = make_backend(target)
    other = make_backend(GPUTarget("cuda", 89, 32))
    assert len(backend.hash()) == 64 and backend.hash() == make_backend(target).hash() != other.hash()
    assert backend.parse_options({"num_warps": 2, "unknown": 3}).num_warps == 2 and backend.parse_options({}).num_warps == 4


def test_kernel_interface_is_a_plain_base():
    class Mine(KernelInterface):
        def run(self, *args, grid, warmup, **kwargs):
            return args, grid, warmup, kwargs

    assert Mine()[3, 4](1, b=2) == ((1,), (3, 4), False, {"b": 2})
    assert isinstance(scaled, KernelInterface)


def test_kernels_pickle():
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    local = triton.jit(scaled.fn)
    local.fn = local.__globals__ = None
    other = pickle.loads(pickle.dumps(local))
    assert other.arg_names == scaled.arg_names and other.fn is None and [p.num for p in other.params] == [0, 1, 2, 3, 4]


def test_source_begins_at_def():
    assert scaled.src.startswith("def scaled(x, y") and scaled.src.rstrip().endswith("mask=i < n)")


def test_kinds_of_devices():
    try:
        driver.set_active_to_cpu()
        assert driver.active.get_current_target().backend == "cpu"
        if driver.get_active_gpus():
            driver.set_active_to_gpu()
            assert driver.active.get_current_target().backend == "cuda"
        else:
            with pytest.raises(RuntimeError, match="no GPU here"):
                driver.set_active_to_gpu()
    finally:
        driver.reset_active()


def test_threads_of_configurations():
    config = triton.Config({"BLOCK": 4}, num_cpu_threads=1)
    assert config.all_kwargs()["num_cpu_threads"] == 1 and "num_cpu_threads" not in triton.Config({}).all_kwargs()
    assert pickle.loads(pickle.dumps(config)) == config != triton.Config({"BLOCK": 4})
