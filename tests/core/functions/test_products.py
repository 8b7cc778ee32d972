"""Products of matrices, of operands and accumulators of every type: exact for integers, within derived bounds of float64 else."""

import itertools

import numpy as np
import pytest
import torch
from core.functions import kernels, references

from tilery import tilelang
from tilery.core.functions.row import ALL, FLOAT8, FLOATS, INTEGERS

M, N, K, BATCH = 16, 32, 64, 2
ALL_FLOATS = (*FLOAT8, *FLOATS)
TF32, SHORT = 2.0**-11, 2.0**-20  # what precisions below ieee may take off a factor of float32, relatively


def numbers(dtype, seed, *shape):
    random, kind = np.random.default_rng(seed), references.numpy_type(dtype)
    if references.is_float(dtype):
        return (random.choice([-1, 1], shape) * np.exp(random.uniform(-2, 1, shape))).astype(kind)
    return random.integers(0, 256, (*shape[:-1], shape[-1] * kind.itemsize), dtype=np.uint8).view(kind)


def relative(dtype):
    """The unit roundoff of a float type."""
    return 2.0 ** -(int(references.ml_dtypes.finfo(references.numpy_type(dtype)).nmant) + 1)


def check(got, dtype, a, b, acc, device="cpu", factors=0.0):
    """got: acc + a @ b of NumPy arrays in `dtype`; factors: relative error of a factor.

    Floats are added up in float32 (float64 in that type) and rounded once more where the result is narrower: K products, K sums,
    one sum of parts, each with a unit roundoff of the sizes that are added; a GPU's matrix units cut what is below the largest of
    17 terms, four units a term. A factor of float64 is rounded where the result is narrower."""
    got = kernels.to_numpy(got, dtype)
    if not references.is_float(dtype):
        bits, wide = 8 * got.itemsize, [x.astype(np.int64) for x in (a, b, acc)]
        with np.errstate(all="ignore"):
            assert np.array_equal(got, (wide[2] + wide[0] @ wide[1]).astype(f"u{bits // 8}").view(got.dtype))
        return
    narrow = dtype != "float64"
    factors += relative("float32") if narrow and np.float64 in (a.dtype, b.dtype) else 0
    a, b, acc = (x.astype(np.float64) for x in (a, b, acc))
    size, exact = np.abs(a) @ np.abs(b), acc + a @ b
    error = (K + 2) * (4 if device == "cuda" else 1) * relative("float32" if narrow else "float64") * (size + np.abs(acc))
    error += 2 * factors * size
    if not narrow:
        error *= 2  # NumPy's own
    elif dtype != "float32":
        least = float(references.ml_dtypes.finfo(got.dtype).smallest_subnormal)
        error += relative(dtype) * (np.abs(exact) + error) + least / 2
    wrong = ~(np.abs(got.astype(np.float64) - exact) <= 1.01 * error)
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size}: {got[wrong][0]} for {exact[wrong][0]}, at most {error[wrong][0]} off"


def result_of(a, b, out="fp32"):
    """The element type of tl.dot's result; None: it is refused."""
    if "bool" in (a, b) or references.is_float(a) != references.is_float(b):
        return None
    if not references.is_float(a):
        return "int32"
    if a != b and not (a in FLOAT8 and b in FLOAT8):
        return None
    return {"float64": "float64", "float16": "float16" if out == "fp16" else "float32"}.get(a, "float32")


def dot(folder, options, result, shape):
    text = f"""@tileon.jit
def kernel(a_ptr, b_ptr, acc_ptr, bare_ptr, sum_ptr):
    m, n, k = (tl.arange(0, size) for size in ({M}, {N}, {K}))
    g = tl.arange(0, {shape[0]})[:, None, None]
    a = tl.load(a_ptr + (g * {M} + m[:, None]) * {K} + k).reshape({", ".join(map(str, (*shape[1:], M, K)))})
    b = tl.load(b_ptr + (g * {K} + k[:, None]) * {N} + n).reshape({", ".join(map(str, (*shape[1:], K, N)))})
    at = ((g * {M} + m[:, None]) * {N} + n).reshape({", ".join(map(str, (*shape[1:], M, N)))})
    bare = tl.dot(a, b{options})
    tl.static_assert(bare.dtype == tl.{kernels.TRITON.get(result, result)}, f"{{bare.dtype}}")
    tl.store(bare_ptr + at, bare)
    tl.store(sum_ptr + at, tl.dot(a, b, tl.load(acc_ptr + at){options}))
"""
    return kernels.load(folder, text)


def run_dot(folder, device, a, b, result, options="", batch=1, factors=0.0):
    x, y, acc = numbers(a, 1, batch, M, K), numbers(b, 2, batch, K, N), numbers(result, 3, batch, M, N)
    kernel = dot(folder, options, result, (batch, batch) if batch > 1 else (1,))
    bare, added = (torch.zeros(acc.shape, dtype=getattr(torch, result), device=device) for _ in range(2))
    kernel[(1,)](*(kernels.to_torch(t, device) for t in (x, y, acc)), bare, added)
    check(bare, result, x, y, np.zeros_like(acc), device, factors)
    check(added, result, x, y, acc, device, factors)


EQUAL = [pair for pair in itertools.product(ALL, ALL) if result_of(*pair) and (pair[0] == pair[1] or pair[0] in FLOAT8)]
MIXED = [pair for pair in itertools.product(INTEGERS, INTEGERS) if pair[0] != pair[1]]


@pytest.mark.parametrize("a, b", [*EQUAL, ("int8", "uint8"), *(pytest.param(*p, marks=pytest.mark.long) for p in MIXED)])
def test_dot(device, a, b, tmp_path):
    run_dot(tmp_path, device, a, b, result_of(a, b))


@pytest.mark.parametrize("dtype", [*FLOATS, "float8_e4m3fn", "int8"])
def test_dot_of_batches(device, dtype, tmp_path):
    run_dot(tmp_path, device, dtype, dtype, result_of(dtype, dtype), batch=BATCH)


def test_dot_in_float16(device, tmp_path):
    run_dot(tmp_path, device, "float16", "float16", "float16", ", out_dtype=tl.float16")


@pytest.mark.parametrize("precision, factors", [("ieee", 0), ("tf32", TF32), ("tf32x3", SHORT)])
def test_precisions_of_dot(device, precision, factors, tmp_path):
    run_dot(tmp_path, device, "float32", "float32", "float32", f', input_precision="{precision}"', factors=factors)


@pytest.mark.parametrize("a", ALL)
def test_other_operands_of_dot_are_refused(a, tmp_path):
    for b in ALL:
        if result_of(a, b) is None:
            with pytest.raises(TypeError, match="dot needs operands of one type"):
                run_dot(tmp_path, "cpu", a, b, "float32" if references.is_float(a) else "int32")


def gemms(folder, a, b, result):
    """C += op(A) op(B) for both orders of both operands, the last one from nothing."""
    text = f"""@T.prim_func
def kernel(A: T.Tensor(({M}, {K}), "{a}"), B: T.Tensor(({K}, {N}), "{b}"), C: T.Tensor((4, {M}, {N}), "{result}")):
    with T.Kernel(1):
        x, xt = T.alloc_shared(({M}, {K}), "{a}"), T.alloc_shared(({K}, {M}), "{a}")
        y, yt = T.alloc_shared(({K}, {N}), "{b}"), T.alloc_shared(({N}, {K}), "{b}")
        T.copy(A, x)
        T.copy(B, y)
        T.transpose(x, xt)
        T.transpose(y, yt)
        c = T.alloc_fragment(({M}, {N}), "{result}")
"""
    calls = "x, y, c", "xt, y, c, True", "x, yt, c, False, True", "xt, yt, c, True, True, clear_accum=True"
    for n, call in enumerate(calls):
        text += f"        T.copy(C[{n}, :, :], c)\n        T.gemm({call})\n        T.copy(c, C[{n}, :, :])\n"
    return tilelang.compile(kernels.load(folder, text))


def run_gemm(folder, device, a, b, result):
    x, y, acc = numbers(a, 4, M, K), numbers(b, 5, K, N), numbers(result, 6, 4, M, N)
    made = kernels.to_torch(acc, device)
    gemms(folder, a, b, result)(*(kernels.to_torch(t, device) for t in (x, y)), made)
    acc[3] = 0
    for got, start in zip(made, acc):
        check(got, result, x, y, start, device, TF32 if device == "cuda" and "float32" in (a, b) else 0)


def usual(a, result):
    """Accumulators that programs use."""
    return result in (a, "float32", "float64") if references.is_float(a) else result in (a, "int32", "int64")


PRODUCTS = [
    pytest.param(a, b, c, marks=[] if a == b and usual(a, c) else [pytest.mark.long])
    for kinds in (ALL_FLOATS, INTEGERS)
    for a, b, c in itertools.product(kinds, kinds, kinds)
    if a == b or {a, b} <= {*FLOAT8}
]


@pytest.mark.pairs
@pytest.mark.pairs
@pytest.mark.parametrize("a, b, result", PRODUCTS)
def test_gemm(device, a, b, result, tmp_path):
    run_gemm(tmp_path, device, a, b, result)


@pytest.mark.parametrize("a, result", [("float16", "int32"), ("int8", "float32")])
def test_other_sums_of_gemm_are_refused(a, result, tmp_path):
    with pytest.raises(AssertionError, match="cannot accumulate in"):
        gemms(tmp_path, a, a, result)


@pytest.mark.parametrize("a, b", [("float16", "bfloat16"), ("float32", "float8_e4m3fn"), ("int8", "uint8")])
def test_gemms_of_two_types_are_refused(a, b, tmp_path):
    with pytest.raises(AssertionError, match="A and B must have the same dtype"):
        gemms(tmp_path, a, b, "int32" if a == "int8" else "float32")


def test_gemms_of_truth_values_are_refused(tmp_path):
    with pytest.raises(TypeError, match="dot needs operands of one type"):
        gemms(tmp_path, "bool", "bool", "int32")
