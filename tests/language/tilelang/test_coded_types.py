"""Types whose bits lie in bytes: conversions against ml_dtypes, two elements a byte, sizes and strides counted in elements."""

import ml_dtypes
import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

FLOATS = ("float4_e2m1fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")


def bytes_of(kind, values):
    """Elements of an ml_dtypes type as memory has them."""
    codes = values.view(np.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4 if T.dtype(kind).bits == 4 else codes


@pytest.mark.parametrize("kind", FLOATS)
def test_every_code_is_read(kind, engine):
    count = 16 if kind.startswith("float4") else 256

    @T.prim_func
    def main(A: T.Tensor((count,), kind), B: T.Tensor((count,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(count):
                B[i] = A[i]

    codes = np.arange(count, dtype=np.uint8).view(getattr(ml_dtypes, kind))
    out = torch.zeros(count)
    tilelang.compile(main)(torch.tensor(bytes_of(kind, codes)), out)
    np.testing.assert_array_equal(out.cpu().numpy(), codes.astype(np.float32))


@pytest.mark.parametrize("kind", FLOATS)
def test_numbers_are_rounded_to_the_nearest(kind, engine):
    count = 4096

    @T.prim_func
    def main(A: T.Tensor((count,), "float32"), B: T.Tensor((count,), kind), C: T.Tensor((count,), "float32")):
        with T.Kernel(1):
            for i in T.serial(count):
                B[i] = A[i]
            for i in T.Parallel(count):
                C[i] = T.cast(A[i], kind)

    kind_of = getattr(ml_dtypes, kind)
    largest = float(ml_dtypes.finfo(kind_of).max)
    random = np.random.default_rng(4)
    values = (random.standard_normal(count) * 2.0 ** random.integers(-12, 12, count)).astype(np.float32)
    if kind == "float8_e8m0fnu":
        values = np.abs(values) * 2.0 ** random.integers(-100, 100, count).astype(np.float32)
    else:
        every = np.arange(2 ** T.dtype(kind).bits, dtype=np.uint8).view(kind_of).astype(np.float32)
        every = np.sort(every[np.isfinite(every)])
        ties = (every[1:] + every[:-1]) / 2
        values[: len(ties)] = ties
        values[-len(every) :] = every
    out, back = torch.zeros(count * T.dtype(kind).bits // 8, dtype=torch.uint8), torch.zeros(count)
    tilelang.compile(main)(torch.tensor(values), out, back)
    expected = values.clip(-largest, largest).astype(kind_of)
    if kind.endswith("fnuz") or kind == "float8_e8m0fnu":
        np.testing.assert_array_equal(out.cpu().numpy(), bytes_of(kind, expected))
    np.testing.assert_array_equal(back.cpu().numpy(), expected.astype(np.float32))


@pytest.mark.parametrize("kind, number", [("float4_e2m1fn", 6), ("float8_e4m3fnuz", np.nan), ("float8_e8m0fnu", np.nan)])
def test_nan_becomes_nan_or_the_greatest_number(kind, number, engine):
    """As CUDA's conversions have it."""

    @T.prim_func
    def main(A: T.Tensor((4,), "float32"), C: T.Tensor((4,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(4):
                C[i] = T.cast(A[i], kind)

    bits = torch.tensor([0x7FC00000, 0x7F800001, -1, -0x7FFFFF], dtype=torch.int32)
    out = torch.zeros(4)
    tilelang.compile(main)(bits.view(torch.float32), out)
    torch.testing.assert_close(out, torch.full((4,), float(number)), equal_nan=True)


@pytest.mark.parametrize("kind", ("int4", "uint4"))
def test_integers_of_4_bits(kind, engine):
    @T.prim_func
    def main(A: T.Tensor((6, 16), kind), B: T.Tensor((6, 16), "int32"), C: T.Tensor((6, 16), kind)):
        with T.Kernel(6, threads=1) as row:
            tile = T.alloc_shared((1, 16), kind)
            T.copy(A[row, 0], tile)
            for j in T.Parallel(16):
                B[row, j] = A[row, j] * 2
            for j in T.serial(16):
                C[row, j] = tile[0, 15 - j]

    low, high = (-8, 8) if kind == "int4" else (0, 16)
    values = np.random.default_rng(6).integers(low, high, (6, 16))
    packed = (values[:, 0::2] & 15 | (values[:, 1::2] & 15) << 4).astype(np.uint8)
    doubled, turned = torch.zeros(6, 16, dtype=torch.int32), torch.zeros(6, 8, dtype=torch.uint8)
    tilelang.compile(main)(torch.tensor(packed), doubled, turned)
    assert (doubled.cpu().numpy() == values * 2).all()
    back = values[:, ::-1]
    assert (turned.cpu().numpy() == (back[:, 0::2] & 15 | (back[:, 1::2] & 15) << 4)).all()


def test_sizes_and_strides_are_counted_in_elements(engine):
    @tilelang.jit
    def sizes(x, out):
        m, n, s = T.dynamic("m, n, s")
        x: T.StridedTensor[[m, n], [s, 1], T.float4_e2m1fn]
        out: T.Tensor[[3], T.int32]
        with T.Kernel(1, threads=1):
            out[0] = m
            out[1] = n
            out[2] = s

    out = torch.zeros(3, dtype=torch.int32)
    sizes(torch.zeros(8, 6, dtype=torch.uint8)[::2, :4], out)
    assert out.tolist() == [4, 8, 24]


def test_what_is_not_offered_says_why():
    def total(A: T.Tensor((16, 16), "float4_e2m1fn")):
        with T.Kernel(1):
            tile, row = T.alloc_fragment((16, 16), "float4_e2m1fn"), T.alloc_fragment((16,), "float32")
            T.copy(A, tile)
            T.reduce_sum(tile, row)

    with pytest.raises(NotImplementedError, match="T.reduce does not take `tile`, whose type float4_e2m1fn is computed"):
        T.prim_func(total)


VALUES = ("int4", "uint4", *FLOATS)


def random_elements(kind, shape):
    rng = np.random.default_rng(9)
    low, high = {"int4": (-8, 8), "uint4": (0, 16), "float8_e8m0fnu": (125, 130)}.get(kind, (-6, 7))
    numbers = rng.integers(low, high, shape)
    numbers = 2.0 ** (numbers - 127) if kind == "float8_e8m0fnu" else numbers
    return numbers.astype(getattr(ml_dtypes, kind))


@pytest.mark.parametrize("kind", VALUES)
def test_products_of_coded_operands(kind, engine):
    acc = "int32" if "int" in kind else "float32"

    @T.prim_func
    def main(A: T.Tensor((32, 64), kind), B: T.Tensor((16, 64), kind), C: T.Tensor((32, 16), acc)):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared((32, 64), kind), T.alloc_shared((16, 64), kind)
            c = T.alloc_fragment((32, 16), acc)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    a, b = random_elements(kind, (32, 64)), random_elements(kind, (16, 64))[::-1]
    c = torch.zeros(32, 16, dtype=getattr(torch, acc))
    tilelang.compile(main)(torch.tensor(bytes_of(kind, a)), torch.tensor(bytes_of(kind, np.ascontiguousarray(b))), c)
    np.testing.assert_array_equal(c.cpu().numpy(), a.astype(np.float64) @ b.astype(np.float64).T)  # sums are exact


@pytest.mark.parametrize("kind", VALUES)
def test_copies_convert(kind, engine):
    plain = "int8" if "int" in kind else "float32"

    @T.prim_func
    def main(A: T.Tensor((8, 32), kind), B: T.Tensor((8, 32), plain), C: T.Tensor((8, 32), kind)):
        with T.Kernel(2, threads=128) as bx:
            a, b = T.alloc_shared((4, 32), kind), T.alloc_fragment((4, 32), plain)
            T.copy(A[bx * 4, 0], a)
            T.copy(a, b)
            T.copy(b, B[bx * 4, 0])
            T.copy(b, C[bx * 4, 0])

    a = random_elements(kind, (8, 32))
    codes = torch.tensor(bytes_of(kind, a))
    b, c = torch.zeros(8, 32, dtype=getattr(torch, plain)), torch.zeros_like(codes)
    tilelang.compile(main)(codes, b, c)
    np.testing.assert_array_equal(b.cpu().numpy(), a.astype(b.cpu().numpy().dtype))
    assert torch.equal(c, codes)


@pytest.mark.parametrize("kind", VALUES)
def test_fills(kind, engine):
    @T.prim_func
    def main(A: T.Tensor((4, 32), kind)):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((4, 32), kind)
            T.fill(a, 2)
            T.fill(a[0:2, 0:16], 4)
            T.copy(a, A)

    right = np.full((4, 32), 2).astype(getattr(ml_dtypes, kind))
    right[0:2, 0:16] = 4
    codes = torch.zeros(bytes_of(kind, right).shape, dtype=torch.uint8)
    tilelang.compile(main)(codes)
    np.testing.assert_array_equal(codes.cpu().numpy(), bytes_of(kind, right))


def test_bytes_are_taken_for_one_another():
    @T.prim_func
    def main(A: T.Tensor((4, 32), "float4_e2m1fn"), B: T.Tensor((4, 32), "float32")):
        with T.Kernel(1):
            for i, j in T.Parallel(4, 32):
                B[i, j] = A[i, j]

    values = random_elements("float4_e2m1fn", (4, 32))
    out = torch.zeros(4, 32)
    tilelang.compile(main)(torch.tensor(bytes_of("float4_e2m1fn", values)).view(torch.int8), out)
    np.testing.assert_array_equal(out.cpu().numpy(), values.astype(np.float32))


@pytest.mark.parametrize("style", ["lazy", "eager"])
@pytest.mark.parametrize("kind", [kind for kind in FLOATS if kind.startswith("float8")])
def test_tensors_of_types_that_torch_has(kind, style, engine):
    """Inputs, arguments that are written, and results."""

    @tilelang.jit
    def eager(A, B):
        n = T.const("n")
        A: T.Tensor((n,), kind)
        B: T.Tensor((n,), kind)
        C = T.empty((n,), kind)
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = A[i] * 2
                C[i] = A[i] * 4
        return C

    @tilelang.jit(out_idx=-1)
    def lazy(n):
        @T.prim_func
        def main(A: T.Tensor((n,), kind), B: T.Tensor((n,), kind), C: T.Tensor((n,), kind)):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(n):
                    B[i] = A[i] * 2
                    C[i] = A[i] * 4

        return main

    of_torch = getattr(torch, kind)
    a = torch.tensor([0.5, 1, 2, 4, 0.25]).to(of_torch)
    b = torch.zeros(5, dtype=torch.uint8).view(of_torch)
    c = eager(a, b) if style == "eager" else lazy(5)(a, b)
    assert c.dtype == of_torch
    assert b.float().tolist() == [1, 2, 4, 8, 0.5]
    assert c.float().tolist() == [2, 4, 8, 16, 1]
    other = torch.float8_e5m2fnuz if kind != "float8_e5m2fnuz" else torch.float8_e8m0fnu
    with pytest.raises(TypeError, match="'A' has 8-bit floats of a type .* that this kernel does not take"):
        eager(a.view(torch.uint8).view(other), b)
    with pytest.raises(TypeError, match=f"dtype is expected to be {kind}, but got incompatible dtype"):
        eager(a.view(torch.uint8).view(torch.float8_e5m2), b)
