"""One loop over all elements of a tile, whose places are quotients and rests of its number: `a[i // 64, i % 64]`."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts

ROWS, COLUMNS = 24, 48


def by_quotients(i):
    return i // COLUMNS, i % COLUMNS


def by_steps(i):
    """Cut at 16 and at 48."""
    return i // 16 // 3, (i // 16) % 3 * 16 + i % 16


def columns_first(i):
    return i % ROWS, i // ROWS


def shared(place, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((ROWS, COLUMNS), dtype), B: T.Tensor((ROWS, COLUMNS), dtype), F: T.Tensor((ROWS * COLUMNS,), dtype)):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((ROWS, COLUMNS), dtype)
            f = T.alloc_fragment((ROWS * COLUMNS,), dtype)
            T.copy(A, a)
            for i in T.Parallel(ROWS * COLUMNS):
                f[i] = a[place(i)[0], place(i)[1]] * 2 + i
            for i in T.Parallel(ROWS * COLUMNS):
                B[place(i)[0], place(i)[1]] = f[i]
                F[i] = f[i]

    return main


@pytest.mark.parametrize("place", [by_quotients, by_steps, columns_first], ids=lambda place: place.__name__)
def test_places(device, place):
    a = torch.randn(ROWS, COLUMNS, device=device)
    b, f = torch.full((ROWS, COLUMNS), torch.nan, device=device), torch.full((ROWS * COLUMNS,), torch.nan, device=device)
    tilelang.compile(shared(place))(a, b, f)
    i = torch.arange(ROWS * COLUMNS, device=device)
    rows, columns = place(i)
    exact = a[rows, columns] * 2 + i
    torch.testing.assert_close(f, exact, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(b[rows, columns], exact, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("ragged", [0, 5])
def test_tensors(device, shift, ragged):
    """Places in tensors, of which some lie outside; a condition of both parts."""
    m, n = 32, 64

    @T.prim_func
    def main(A: T.Tensor((m - ragged, n - ragged), "float16"), B: T.Tensor((m, n), "float16")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(m * n):
                row, column = (i >> 6, i & 63) if shift else (i // n, i % n)
                if column >= row:
                    B[row, column] = A[row, column] + column

    a, b = torch.randn(m - ragged, n - ragged).half(), torch.full((m, n), -1.0, device=device).half()
    tilelang.compile(main)(a.to(device), b)
    whole = torch.zeros(m, n, dtype=a.dtype, device=a.device)
    whole[: m - ragged, : n - ragged] = a
    numbers = torch.arange(n, device=a.device)
    exact = torch.where(numbers >= numbers[:m, None], whole + numbers, torch.full_like(whole, -1.0))
    torch.testing.assert_close(b, exact.to(device))


@pytest.mark.parametrize("by, most", [(7, 96), (48, 100), (64, 96)])
def test_ragged_digits(device, by, most):
    """Quotients that are no digits, for the extent is no multiple of what divides it, or two cuts are not within each other."""

    @T.prim_func
    def main(A: T.Tensor((most,), "int32"), B: T.Tensor((most,), "int32"), C: T.Tensor((most,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(most):
                B[i] = A[i % by] * 100 + i // by
                C[i] = i // 4 * 1000 + i % 6

    a = torch.randint(0, 100, (most,), dtype=torch.int32, device=device)
    b, c = torch.full((most,), -1, dtype=torch.int32, device=device), torch.full((most,), -1, dtype=torch.int32, device=device)
    tilelang.compile(main)(a, b, c)
    i = torch.arange(most, dtype=torch.int32, device=device)
    torch.testing.assert_close(b, a[(i % by).long()] * 100 + i // by)
    torch.testing.assert_close(c, i // 4 * 1000 + i % 6)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("shift", [-70, 0, 70])
def test_rows_outside_are_neither_read_nor_written(device, dtype, shift):
    """A permutation by one loop that is too long on both sides: indices below 0 and beyond the extents."""
    planes, rows, columns = 3, 5, 40
    elements = planes * rows * columns
    block = 256

    @T.prim_func
    def main(A: T.Tensor((planes, rows, columns), dtype), B: T.Tensor((rows, planes, columns), dtype)):
        with T.Kernel(T.ceildiv(elements + 200, block), threads=64) as bx:
            for i in T.Parallel(block):
                at = bx * block + i + shift
                plane, row = at // (columns * rows), at // columns % rows
                B[row, plane, at % columns] = A[plane, row, at % columns]

    a = torch.arange(elements, device="cpu").remainder(100).to(getattr(torch, dtype)).reshape(planes, rows, columns)
    around = torch.full((elements + 2000,), 7, dtype=a.dtype, device=device)
    b = around[1000 : 1000 + elements].reshape(rows, planes, columns)
    tilelang.compile(main)(a.to(device), b)
    wanted = torch.full((elements + 2000,), 7, dtype=a.dtype, device="cpu")
    at = torch.arange(elements, device="cpu")
    at = at[(at >= shift) & (at < shift + (elements + 200 + block - 1) // block * block)]
    inside = wanted[1000 : 1000 + elements].view(rows, planes, columns)
    inside[at // columns % rows, at // (columns * rows), at % columns] = a.flatten()[at]
    assert torch.equal(around.cpu(), wanted)


@pytest.mark.parametrize("width", [4, 17, 130])
def test_reflected_rows(device, width):
    """Sides of a choice without a quotient, under bounds that ragged rows have."""
    pad, block = 3, 64

    @T.prim_func
    def main(X: T.Tensor((2, width), "float32"), Y: T.Tensor((2, width + 2 * pad), "float32")):
        with T.Kernel(T.ceildiv(width + 2 * pad, block), 2, threads=64) as (bx, by):
            for i in T.Parallel(block):
                w = T.abs(bx * block + i - pad)
                back = T.if_then_else(w >= width, 2 * (width - 1) - w, w)
                if bx * block + i < width + 2 * pad:
                    Y[by, bx * block + i] = X[by, back]

    x = torch.randn(2, width, device="cpu")
    y = torch.full((2, width + 2 * pad), torch.nan, device=device)
    tilelang.compile(main)(x.to(device), y)
    assert torch.equal(y.cpu(), torch.nn.functional.pad(x[None], (pad, pad), mode="reflect")[0])


def beside_product(m, n, k):
    """A number that one loop over all elements sums up, between products."""

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((k, n), "float16"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 64), threads=128) as (bx, by):
            a, b = T.alloc_shared((64, 64), "float16"), T.alloc_shared((64, 64), "float16")
            c, f = T.alloc_fragment((64, 64), "float32"), T.alloc_fragment((64 * 64,), "float32")
            s, total = T.alloc_fragment((1,), "float32"), T.alloc_var("float32")
            T.clear(c)
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, 64), num_stages=2):
                T.copy(A[by * 64, step * 64], a)
                T.copy(B[step * 64, bx * 64], b)
                for i in T.Parallel(64 * 64):
                    f[i] = T.cast(a[i // 64, i % 64], "float32") * T.cast(b[i // 64, i % 64], "float32")
                T.clear(s)
                T.reduce_sum(f, s, dim=-1, clear=False)
                total = total + s[0]
                T.gemm(a, b, c)
            for i, j in T.Parallel(64, 64):
                c[i, j] = c[i, j] + total
            T.copy(c, C[by * 64, bx * 64])

    return main


@pytest.mark.gpu
@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (128, 192, 320), (100, 72, 200), (1, 8, 8)])
def test_sums_beside_products(device, m, n, k):
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    c = torch.full((m, n), torch.nan, device=device)
    tilelang.compile(beside_product(m, n, k))(a, b, c)
    exact = a.double() @ b.double()
    wide = (-m % 64, -n % 64, -k % 64)
    left = torch.nn.functional.pad(a.double(), (0, wide[2], 0, wide[0]))
    right = torch.nn.functional.pad(b.double(), (0, wide[1], 0, wide[2]))
    for y in range(0, m, 64):
        for x in range(0, n, 64):
            pairs = [(left[y : y + 64, z : z + 64], right[z : z + 64, x : x + 64]) for z in range(0, k, 64)]
            exact[y : y + 64, x : x + 64] += sum((p * q).sum() for p, q in pairs)
    torch.testing.assert_close(c.double(), exact, rtol=1e-5, atol=2e-3)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_plan(target):
    function = beside_product(128, 128, 256)
    module = tilelang.compile(function).traced(usual_layouts(function.params)).module
    plan = _native.compile(module, disjoint=True, texts=True, target=target).plan
    assert ": blocks consumers=" in plan, plan
