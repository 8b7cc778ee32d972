"""Fast math: functions and quotients of float32 become the approximations that a GPU has; on a CPU they stay what they are."""

import re

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

FAST = tilelang.PassConfigKey.TL_ENABLE_FAST_MATH
N = 64


def function(annotate=lambda: None, late=lambda: None, compute=None):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        annotate()
        with T.Kernel(1, threads=64):
            for i in T.Parallel(N):
                B[i] = compute(A[i]) if compute else T.exp(A[i]) / (T.sin(A[i]) + 2)
            late()

    return main


def flags(kernel):
    return re.findall(r"(math\.\w+|arith\.divf) .*fastmath<(\w+)>", kernel.get_kernel_source())


USUAL = [("math.exp", "afn"), ("math.sin", "afn"), ("arith.divf", "arcp")]


@pytest.mark.parametrize(
    "options",
    [
        {"pass_configs": {FAST: True}},
        {"pass_configs": {"tl.enable_fast_math": True}},
        {"pass_configs": {"tl.disable_fast_math": False}},
        {"pass_configs": {"tl.device_compile_flags": "-O3 --use_fast_math"}},
        {"compile_flags": ["--use_fast_math"]},
        {"compile_flags": "-lineinfo -use_fast_math"},
    ],
)
def test_of_options(options):
    assert flags(tilelang.compile(function(), **options)) == USUAL
    assert flags(tilelang.jit(lambda: function(), **options)()) == USUAL


@pytest.mark.parametrize(
    "annotate",
    [lambda: T.annotate_pass_configs({FAST: True}), lambda: T.annotate_compile_flags(["--use_fast_math"])],
)
def test_of_the_body(annotate):
    """Wherever it stands; who compiles the function has the last word."""
    assert flags(tilelang.compile(function(annotate))) == flags(tilelang.compile(function(late=annotate))) == USUAL
    assert flags(tilelang.compile(function(annotate), pass_configs={FAST: False})) == []


def test_of_an_eager_function():
    @tilelang.jit(pass_configs={FAST: True})
    def negative(A):
        A: T.Tensor[[N], T.float32]
        B = T.empty((N,), T.float32)
        with T.Kernel(1):
            for i in T.Parallel(N):
                B[i] = T.exp(-A[i])
        return B

    assert flags(negative.compile(torch.zeros(N))) == [("math.exp", "afn")]


def test_of_single_functions():
    """T.__exp and its kin are fast by themselves; what rounds as it is told, and what has no quick form, never is."""
    named = tilelang.compile(function(compute=lambda x: T.__exp(x) + T.exp(x) + T.__log2(x) + T.__cos(x) + T.__tan(x)))
    assert flags(named) == [("math.exp", "afn"), ("math.log2", "afn"), ("math.cos", "afn"), ("math.tan", "afn")]
    exact = function(compute=lambda x: T.ieee_fdiv(x, x) + T.ieee_fsqrt(x) + T.sqrt(x) + T.erf(x) + T.floor(x))
    assert flags(tilelang.compile(exact, pass_configs={FAST: True})) == []


def test_results(device):
    """A CPU's functions stay what they are."""
    main = function()
    usual, fast = (tilelang.compile(main, out_idx=-1, pass_configs={FAST: on}) for on in (False, True))
    x = torch.linspace(-4, 4, N)
    made = [kernel(x) for kernel in (usual, fast, usual)]
    for y in made:
        torch.testing.assert_close(y, (x.double().exp() / (x.double().sin() + 2)).float(), rtol=1e-5, atol=0)
    assert device == "cuda" or torch.equal(made[0], made[1])
    assert flags(usual) == [] and flags(fast) == USUAL


def test_a_gpu_takes_its_own_instructions():
    usual, fast = (tilelang.compile(function(), pass_configs={FAST: on})._ptx() for on in (False, True))
    assert "sin.approx.ftz" in fast and "sin.approx" not in usual and "div.full" in fast and "div.full" not in usual
    assert "f64" in usual and "f64" not in fast  # the angle is reduced in float64
