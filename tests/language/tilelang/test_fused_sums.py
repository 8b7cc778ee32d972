"""--fmad=false: products and sums round each, wherever the flag stands."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

N = 256
FLAGS = tilelang.PassConfigKey.TL_DEVICE_COMPILE_FLAGS


def function(annotate=lambda: None, late=lambda: None):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        annotate()
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                C[i] = A[i] * B[i] + C[i]
            late()

    return main


def tensors():
    """Sums that are what their product's rounding loses, and 0 where it has been rounded."""
    a, b = 1 + torch.rand(N), 1 + torch.rand(N)
    return a, b, -(a * b)


def fuses(kernel):
    """Are results those of one rounding? Else they are those of two, bit for bit."""
    a, b, c = tensors()
    kernel(a, b, c)
    lost = (a.double() * b.double() - (a * b).double()).float()  # exact in float64
    assert lost.count_nonzero() > N / 2
    if torch.equal(c, lost):
        return True
    assert torch.equal(c, torch.zeros(N))
    return False


def annotated(*flags):
    return lambda: T.annotate_compile_flags(list(flags))


@pytest.mark.parametrize("options", [
    {"compile_flags": "--fmad=false"},
    {"compile_flags": ["-O3", "-fmad=false"]},
    {"compile_flags": ["--fmad", "false"]},
    {"compile_flags": "--fmad=true --fmad=false"},
    {"compile_flags": "-ffp-contract=off"},
    {"compile_flags": "--use_fast_math --fmad=false"},
    {"pass_configs": {FLAGS: ["--fmad=false"]}},
    {"pass_configs": {FLAGS: "--fmad=false", "tl.enable_fast_math": True}},
    {"pass_configs": {FLAGS: "--fmad=false"}, "compile_flags": "--use_fast_math"},
])  # fmt: skip
def test_of_options(options, device):
    assert not fuses(tilelang.compile(function(), **options))
    assert not fuses(tilelang.jit(lambda: function(), **options)())


@pytest.mark.parametrize("options", [{}, {"compile_flags": "--fmad=true"}, {"compile_flags": "-O3 --use_fast_math"}])
def test_sums_are_fused_otherwise(options, device):
    assert fuses(tilelang.compile(function(), **options))


@pytest.mark.parametrize("annotate", [annotated("--fmad=false"), lambda: T.annotate_pass_configs({FLAGS: "-fmad=false"})])
def test_of_the_body(annotate, device):
    """Wherever it stands; who compiles the function has the last word. Equal code of another process, or of the disk cache, is
    told apart by it."""
    for main in (function(annotate), function(late=annotate)):
        assert not fuses(tilelang.compile(main)) and not fuses(tilelang.compile(main))
        assert fuses(tilelang.compile(main, compile_flags="--fmad=true"))
    assert fuses(tilelang.compile(function(annotated("--fmad=true"))))


def test_of_an_eager_function(device):
    @tilelang.jit(compile_flags=["--fmad=false"])
    def fused(A, B, C):
        A: T.Tensor[[N], T.float32]
        B: T.Tensor[[N], T.float32]
        C: T.Tensor[[N], T.float32]
        with T.Kernel(1):
            for i in T.Parallel(N):
                C[i] = A[i] * B[i] + C[i]

    assert not fuses(fused)


def test_of_configurations(device):
    """A tuner's configurations may say it, too."""
    configs = [{"block": 32, "pass_configs": {FLAGS: "--fmad=false"}}]

    @tilelang.autotune(configs=configs, warmup=1, rep=1)
    @tilelang.jit
    def tuned(block=64):
        return function()

    assert not fuses(tuned())


def test_code_of_a_gpu():
    """What rounds is said of each instruction: NVIDIA's assembler fuses those that do not say it."""
    ptx = tilelang.compile(function(), compile_flags="--fmad=false")._ptx()
    assert "mul.rn.f32" in ptx and "fma" not in ptx
    assert "fma.rn.f32" in tilelang.compile(function())._ptx()


REFUSED = {
    "target": {"target": "hip"},
    "architecture": {"target": {"kind": "cuda", "arch": "gfx90"}},
    "unknown target": {"target": "abacus"},
    "backend": {"execution_backend": "abacus"},
    "switch": {"pass_configs": {"tl.there_is_none": True}},
    "flag": {"compile_flags": "--fmad=perhaps"},
    "flag of a device": {"pass_configs": {FLAGS: ["--fmad=perhaps"]}},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_decorators_hold_what_is_refused_when_a_kernel_is_compiled(options):
    """A module is imported whose other kernels are used."""

    def build(block=64):
        return function()

    def eager(A):
        A: T.Tensor[[N], T.float32]
        with T.Kernel(1):
            A[0] = 1

    tuned = tilelang.autotune(configs=[{"block": 32}])(tilelang.jit(build, **options))
    for call in (tilelang.jit(build, **options), tuned, lambda: tilelang.jit(eager, **options)(torch.zeros(N))):
        with pytest.raises((ValueError, NotImplementedError, AttributeError), match="hint: "):
            call()


@pytest.mark.parametrize("annotate", [annotated("--fmad=perhaps"), lambda: T.annotate_pass_configs({"tl.there_is_none": True})])
def test_functions_hold_what_is_refused_when_they_are_compiled(annotate):
    main = function(annotate)
    for _ in range(2):
        with pytest.raises((ValueError, AttributeError), match="test_fused_sums.py:.*(flag --fmad is|'tl.there_is_none')"):
            tilelang.compile(main)
