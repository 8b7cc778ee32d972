"""Stated roundings against Python's fractions, bits against Python's integers, vectors lane by lane."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang import tvm

EXACT = {
    "ieee_add": lambda x, y: x + y,
    "ieee_sub": lambda x, y: x - y,
    "ieee_mul": lambda x, y: x * y,
    "ieee_fdiv": lambda x, y: x / y,
    "ieee_frcp": lambda x: 1 / x,
    "ieee_fmaf": lambda x, y, z: x * y + z,
}


def rounded(exact, kind, mode):
    """A fraction as a float of NumPy's type `kind`."""
    near = kind(float(exact))  # within a float of it
    candidates = [near]
    for _ in range(2):
        candidates = [np.nextafter(candidates[0], kind(-np.inf)), *candidates, np.nextafter(candidates[-1], kind(np.inf))]
    pairs = [(Fraction(float(c)), c) for c in candidates if np.isfinite(c)]
    below, above = max(p for p in pairs if p[0] <= exact), min(p for p in pairs if p[0] >= exact)
    if mode == "rn":
        lower, upper = exact - below[0], above[0] - exact
        if lower == upper:
            return below[1] if int(below[1].view(f"u{below[1].itemsize}")) % 2 == 0 else above[1]
        return below[1] if lower < upper else above[1]
    return below[1] if mode == "rd" or (mode == "rz" and exact > 0) else above[1]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("mode", ("rn", "rz", "ru", "rd"))
@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_roundings(name, mode, dtype, engine):
    function, count, size = getattr(T, name), EXACT[name].__code__.co_argcount, 200

    @T.prim_func
    def main(A: T.Tensor((3, size), dtype), B: T.Tensor((size,), dtype)):
        with T.Kernel(1):
            for i in T.Parallel(size):
                if count == 1:
                    B[i] = function(A[0, i], mode)
                elif count == 2:
                    B[i] = function(A[0, i], A[1, i], mode)
                else:
                    B[i] = function(A[0, i], A[1, i], A[2, i], mode)

    kind = np.dtype(dtype).type
    random = np.random.default_rng(3)
    values = (random.standard_normal((3, size)) * 2.0 ** random.integers(-20, 20, (3, size))).astype(kind)
    values[:, :8] = [[1, 1, 3, 1, -1, 2, 7, -5], [3, -1, 1e-9, 2, 3, 2, 1e10, 1e-10], [1, 1, 1e-20, -2, 3, -4, 1, 0]]
    out = torch.zeros(size, dtype=getattr(torch, dtype))
    tilelang.compile(main)(torch.tensor(values), out)
    for column, got in zip(values.T, out.cpu().numpy()):
        exact = EXACT[name](*(Fraction(float(x)) for x in column[:count]))
        assert got == rounded(exact, kind, mode), (column, got)


@pytest.mark.parametrize("mode", ("rn", "rz", "ru", "rd"))
def test_roundings_of_roots_and_at_the_ends(mode, engine):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), C: T.Tensor((5,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                B[i] = T.ieee_fsqrt(A[i], mode)
            C[0] = T.ieee_mul(A[0], A[0], mode)
            C[1] = T.ieee_mul(A[0], -A[0], mode)
            C[2] = T.ieee_add(A[1], -A[0], mode)
            C[3] = T.ieee_mul(A[2], A[2], mode)
            C[4] = T.ieee_fdiv(A[2], A[3], mode)

    values = torch.rand(64) * 100
    values[0], values[1], values[2], values[3] = 3e38, float("inf"), 1e-30, 0
    out, ends = torch.zeros(64), torch.zeros(5)
    tilelang.compile(main)(values, out, ends)
    for x, got in zip(values[3:].tolist(), out[3:].cpu().numpy()):
        root = Fraction(math.isqrt(int(Fraction(x) * 2**200)), 2**100)  # 100 bits below the point, rounded down
        wanted = {rounded(root + more, np.float32, mode) for more in (0, Fraction(1, 2**100))}
        assert got in wanted
    largest, infinity, least = float(np.finfo(np.float32).max), float("inf"), float(np.finfo(np.float32).smallest_subnormal)
    assert (
        ends.tolist()
        == {
            "rn": [infinity, -infinity, infinity, 0.0, infinity],
            "rz": [largest, -largest, infinity, 0.0, infinity],
            "ru": [infinity, -largest, infinity, least, infinity],
            "rd": [largest, -infinity, infinity, 0.0, infinity],
        }[mode]
    )


@pytest.mark.parametrize("dtype", ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"))
def test_counts_of_bits(dtype, engine):
    @T.prim_func
    def main(A: T.Tensor((64,), dtype), P: T.Tensor((64,), dtype), Z: T.Tensor((64,), dtype)):
        with T.Kernel(1):
            for i in T.Parallel(64):
                P[i] = T.popcount(A[i])
                Z[i] = T.clz(A[i])

    info = np.iinfo(dtype)
    values = np.random.default_rng(5).integers(info.min, info.max, 64, dtype=dtype, endpoint=True)
    values[:4] = [0, 1, info.max, info.min]
    numbers = torch.tensor(values.astype(np.int64), dtype=torch.int64).to(getattr(torch, dtype)) if info.bits < 64 else None
    numbers = torch.from_numpy(values) if numbers is None else numbers
    ones, zeros = torch.zeros_like(numbers), torch.zeros_like(numbers)
    tilelang.compile(main)(numbers.to(ones.device), ones, zeros)
    for value, one, zero in zip(values.tolist(), ones.tolist(), zeros.tolist()):
        raw = value % (1 << info.bits)
        assert one == raw.bit_count() and zero == info.bits - raw.bit_length()


def test_vectors(engine):
    @T.prim_func
    def main(A: T.Tensor((4, 8), "float32"), B: T.Tensor((4, 8), "float32"), C: T.Tensor((16,), "float16")):
        with T.Kernel(1, threads=1):
            for t in T.serial(4):
                B[t, T.Ramp(0, 1, 4)] = A[t, T.Ramp(t - 2, 1, 4)]  # from the end where t - 2 is negative
            x = A[0, 0:4] * 2 + A[1, 0:4]
            B[0:2, 4:6] = x
            B[2, 4:8] = A[3, 0:4]
            B[3, 4:6] = T.float32x2(5, 6)
            B[3, 6:8] = T.fma2(A[0, 0:2], A[1, 0:2], T.Broadcast(1.0, 2))
            C[0:4] = T.exp(A[2, 0:4])
            C[T.Ramp(4, 3, 4)] = T.max2(A[0, 0:4], A[1, 0:4])
            C[5] = T.extract_lane(x, 3)
            C[6] = T.Shuffle([A[0, 0:2], A[1, 0:2]], [2])

    a, b, c = torch.randint(-4, 5, (4, 8)).float(), torch.zeros(4, 8), torch.zeros(16, dtype=torch.float16)
    tilelang.compile(main)(a, b, c)
    for t in range(4):
        assert (b[t, :4] == a[t, [(t - 2 + lane) % 8 for lane in range(4)]]).all()
    x = a[0, :4] * 2 + a[1, :4]
    assert (b[:2, 4:6].flatten() == x).all() and (b[2, 4:] == a[3, :4]).all() and b[3, 4:6].tolist() == [5, 6]
    assert (b[3, 6:] == a[0, :2] * a[1, :2] + 1).all()
    torch.testing.assert_close(c[:4], a[2, :4].exp().half(), rtol=1e-3, atol=0)
    assert (c[[4, 7, 10, 13]] == torch.maximum(a[0, :4], a[1, :4])).all() and c[5] == x[3] and c[6] == a[1, 0]


@pytest.mark.parametrize("name", ("float8_e4m3fn", "float8_e5m2"))
def test_stores_to_fp8_stay_finite(name, engine):
    @T.prim_func
    def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), name), C: T.Tensor((256,), name), D: T.Tensor((256,), name)):
        with T.Kernel(1):
            T.copy(A, B)
            for i in T.Parallel(256):
                C[i] = A[i]
            fragment = T.alloc_fragment((256,), name)
            T.copy(A, fragment)
            T.copy(fragment, D)

    values = (np.random.default_rng(2).standard_normal(256) * 2.0 ** np.arange(-20, 236).clip(max=40)).astype(np.float32)
    values[:4] = [np.inf, -np.inf, np.nan, 1e30]
    outs = [torch.zeros(256, dtype=getattr(torch, name)) for _ in range(3)]
    tilelang.compile(main)(torch.tensor(values), *outs)
    largest = float(ml_dtypes.finfo(name).max)
    expected = values.clip(-largest, largest).astype(name).astype(np.float32)
    for out in outs:
        np.testing.assert_array_equal(out.float().cpu().numpy(), expected)


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 5), (2, 1, 3), (3, 7, 1)])
def test_transposes(shape, engine):
    swapped = (*shape[:-2], shape[-1], shape[-2])

    @T.prim_func
    def main(A: T.Tensor(shape, "float32"), B: T.Tensor(swapped, "float32")):
        with T.Kernel(1):
            tile = T.alloc_shared(shape, "float32")
            T.copy(A, tile)
            T.transpose(tile, B)

    a, b = torch.randn(shape), torch.zeros(swapped)
    tilelang.compile(main)(a, b)
    assert (b == a.transpose(-1, -2)).all()


def test_nested_parallel_loops(engine):
    @T.prim_func
    def main(A: T.Tensor((4, 6, 5), "float32"), B: T.Tensor((4, 6, 5), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(4):
                for j in T.Parallel(6):
                    for k in T.Parallel(5):
                        B[i, j, k] = A[i, j, k] + i * 100 + j * 10 + k

    a, b = torch.randint(-9, 9, (4, 6, 5)).float(), torch.zeros(4, 6, 5)
    kernel = tilelang.compile(main)
    kernel(a, b)
    i, j, k = (torch.arange(n) for n in (4, 6, 5))
    expected = a + (i[:, None, None] * 100 + j[:, None] * 10 + k)
    assert (b == expected).all() and "tile.parallel" not in kernel.asm["passes"]


@pytest.mark.parametrize("name", ("float8_e4m3fn", "float8_e5m2"))
def test_extremes_of_fp8(name, engine):
    @T.prim_func
    def main(A: T.Tensor((256,), name), B: T.Tensor((256,), name), C: T.Tensor((3, 256), name)):
        with T.Kernel(1):
            for i in T.Parallel(256):
                C[0, i] = T.max(A[i], B[i])
                C[1, i] = T.min(A[i], B[i])
                C[2, i] = T.clamp(A[i], -1.0, 1.0)

    a, b = (torch.randn(256).to(getattr(torch, name)) for _ in range(2))
    c = torch.zeros(3, 256).to(a.dtype)
    tilelang.compile(main)(a, b, c)
    wide = torch.stack([torch.maximum(a.float(), b.float()), torch.minimum(a.float(), b.float()), a.float().clamp(-1, 1)])
    assert (c.float() == wide).all()


def test_types_of_shifts(engine):
    """Both sides are converted to one type first, as upstream does: bits of a byte that a wider number shifts are not lost."""

    @T.prim_func
    def main(V: T.Tensor((256,), "uint8"), R: T.Tensor((4, 256), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(256):
                code = (V[i] >> (i % 2).astype(T.uint16) * tvm.tirx.const(4, T.uint16)) & tvm.tirx.const(15, T.uint16)
                R[0, i] = code << 7
                R[1, i] = (V[i] << 4) >> 4
                R[2, i] = ((V[i] >> (i % 2 * 4)) & 15) - 8
                R[3, i] = 1 << (V[i] & 15).astype("int32")

    values = torch.arange(256)
    out = tilelang.compile(main, out_idx=1)(values.to(torch.uint8))
    nibbles = torch.where(values % 2 == 0, values & 15, values >> 4)
    assert torch.equal(out, torch.stack([nibbles << 7, values & 15, nibbles - 8, 1 << (values & 15)]).int())


SMALL = "float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float8_e3m4 float6_e2m3fn float6_e3m2fn float4_e2m1fn"


@pytest.mark.parametrize("name", SMALL.split())
def test_ends_of_small_floats(name):
    info = ml_dtypes.finfo(getattr(ml_dtypes, name))
    assert [T.min_value(name), T.max_value(name)] == [float(info.min), float(info.max)]


LEAST = -T.infinity("float32")  # before any kernel


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinity_outside_of_kernels(dtype, engine):
    assert LEAST == -math.inf and isinstance(LEAST, float)

    @tilelang.jit(out_idx=[1])
    def greatest(N, start=-T.infinity("float16")):
        least = -T.infinity(dtype)

        @T.prim_func
        def main(X: T.Tensor((N,), dtype), Y: T.Tensor((3,), dtype)):
            none = -T.infinity(dtype)
            with T.Kernel(1, threads=32):
                found = T.alloc_var(dtype, init=least)
                for i in T.serial(N):
                    found = T.max(found, T.if_then_else(i % 2 == 0, X[i], start))
                Y[0] = found
                Y[1] = T.max(LEAST, none)
                Y[2] = T.max(least, X[0])

        return main

    x = -torch.rand(9, dtype=getattr(torch, dtype)) - 1
    assert greatest(9)(x).tolist() == [x[::2].max().item(), -math.inf, x[0].item()]


def test_flat_indices(engine):
    @T.prim_func
    def main(A: T.Tensor((3, 4, 5), "int32"), B: T.Tensor((60,), "int32")):
        with T.Kernel(1):
            for n in T.parallel(60):
                i, j, k = T.index_to_coordinates(n, (3, 4, 5))
                A[i, j, k] = B[T.linear_index(i, j, k, 4, 5)] * 2 + T.linear_index(n)

    a, b = torch.zeros(3, 4, 5, dtype=torch.int32), torch.arange(60, dtype=torch.int32)
    tilelang.compile(main)(a, b)
    assert torch.equal(a.flatten(), b * 3)
    with pytest.raises(ValueError, match="takes coordinates and one extent less, got 2 numbers"):
        T.linear_index(1, 2)


@pytest.mark.parametrize("kind", [int, np.int32, np.uint8, np.uint64])
def test_integer_helpers_take_numbers_of_numpy(kind):
    assert tilelang.cdiv(kind(5), kind(2)) == 3 and tilelang.next_power_of_2(kind(5)) == 8
