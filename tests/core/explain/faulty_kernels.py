"""Kernels with one fault each, at the line that says so, and without any. A row: (fault or None, kernel's call)."""

import functools

import torch

from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl

ROWS = {}


def row(fault):
    def add(function):
        ROWS[function.__name__] = fault, function
        return function

    return add


@tileon.jit
def looked_up_kernel(x, index, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    i = tl.load(index + r)
    tl.store(o + r, tl.load(x + i))  # fault


@row("gather")
def looked_up():
    index = torch.randint(0, 4096, (4096,), dtype=torch.int32)
    return looked_up_kernel.explain(torch.rand(4096), index, torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def every_third_kernel(x, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r * 3)  # fault
    tl.store(o + r, v + 1)


@row("gather")
def every_third():
    return every_third_kernel.explain(torch.rand(3 * 4096), torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def stride_kernel(x, o, stride, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r * stride)  # fault
    tl.store(o + r, v * 2)


@row("gather")
def stride_of_a_launch():
    return stride_kernel.explain(torch.rand(3 * 4096), torch.empty(4096), 3, B=1024, grid=(4,), seconds=0)


@tileon.jit
def put_kernel(x, index, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    i = tl.load(index + r)
    tl.store(o + i, v)  # fault


@row("scatter")
def put():
    index = torch.randperm(4096, dtype=torch.int32)
    return put_kernel.explain(torch.rand(4096), index, torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def spread_kernel(x, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    tl.store(o + r * 5, v)  # fault


@row("scatter")
def spread():
    return spread_kernel.explain(torch.rand(4096), torch.zeros(5 * 4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def divide_kernel(x, o, d, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    v = v // d  # fault
    tl.store(o + r, v)


@row("division")
def divide():
    x = torch.arange(4096, dtype=torch.int32)
    return divide_kernel.explain(x, torch.empty_like(x), 7, B=1024, grid=(4,), seconds=0)


@tileon.jit
def remainder_kernel(x, y, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    w = tl.load(y + r)
    v = v % w  # fault
    tl.store(o + r, v)


@row("division")
def remainder():
    x = torch.arange(4096, dtype=torch.int32)
    return remainder_kernel.explain(x, x + 1, torch.empty_like(x), B=1024, grid=(4,), seconds=0)


@tileon.jit
def double_kernel(x, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    v = v.to(tl.float64)  # fault
    tl.store(o + r, tl.sqrt(v * v + 1.0).to(tl.float32))


@row("conversion")
def double():
    return double_kernel.explain(torch.rand(4096), torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def long_kernel(x, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r).to(tl.int64)
    v = v * 4000000000
    f = v.to(tl.float32)  # fault
    tl.store(o + r, f)


@row("conversion")
def long():
    x = torch.arange(4096, dtype=torch.int32)
    return long_kernel.explain(x, torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def small_float_kernel(x, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    v = v.to(tl.float32)  # fault
    tl.store(o + r, v)


@row("conversion")
def small_float():
    x = torch.rand(4096).to(torch.float8_e5m2)
    return small_float_kernel.explain(x, torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def count_up_kernel(x, total, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    tl.atomic_add(total + r % 64, v)  # fault


@row("atomics")
def count_up():
    return count_up_kernel.explain(torch.rand(4096), torch.zeros(64), B=1024, grid=(4,), seconds=0)


@tileon.jit
def turn_kernel(x, o, N, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(o + c[None, :] * N + r[:, None], v)  # fault


@row("transpose")
def turn():
    return turn_kernel.explain(torch.rand(256, 256), torch.empty(256, 256), 256, B=64, grid=(4, 4), seconds=0)


@tileon.jit
def padded_rows_kernel(x, o, N, B: tl.constexpr):
    row = tl.program_id(0)
    r = tl.arange(0, B)
    v = tl.load(x + row * N + r, mask=r < N)
    tl.store(o + row * N + r, v * 2, mask=r < N)


@row(None)  # on a CPU the loop ends where the rows do
def padded_rows():
    return padded_rows_kernel.explain(torch.rand(64, 520), torch.empty(64, 520), 520, B=1024, grid=(64,), seconds=0)


@tileon.jit
def padded_sums_kernel(x, o, N, B: tl.constexpr):
    row = tl.program_id(0)
    r = tl.arange(0, B)
    v = tl.load(x + row * N + r, mask=r < N, other=0.0)  # fault
    tl.store(o + row, tl.sum(tl.abs(v), axis=0))


@row("ragged")
def padded_sums():
    return padded_sums_kernel.explain(torch.rand(64, 100), torch.empty(64), 100, B=1024, grid=(64,), seconds=0)


@tileon.jit
def padded_product_kernel(a, b, c, M, B: tl.constexpr):
    r = tl.arange(0, B)
    m = tl.program_id(0) * B + r
    x = tl.load(a + m[:, None] * B + r[None, :], mask=m[:, None] < M, other=0.0)
    y = tl.load(b + r[:, None] * B + r[None, :])
    z = tl.dot(x, y)
    tl.store(c + m[:, None] * B + r[None, :], z, mask=m[:, None] < M)


@row(None)  # on a CPU rows that do not exist are left out
def padded_product():
    a, b = torch.rand(70, 64), torch.rand(64, 64)
    return padded_product_kernel.explain(a, b, torch.empty(70, 64), 70, B=64, grid=(2,), seconds=0)


@tileon.jit
def narrow_product_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    k, n = tl.arange(0, 64), tl.arange(0, N)
    x = tl.load(a + m[:, None] * 64 + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    z = tl.dot(x, y)  # fault
    tl.store(c + m[:, None] * N + n[None, :], z)


@row("ragged")
def narrow_product():
    a, b, c = torch.rand(128, 64), torch.rand(64, 4), torch.empty(128, 4)
    return narrow_product_kernel.explain(a, b, c, M=64, N=4, grid=(2,), seconds=0)


@tileon.jit
def sort_kernel(x, o, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + r)
    v = tl.sort(v)  # fault
    tl.store(o + r, v)


@row("scalar")
def sort():
    return sort_kernel.explain(torch.rand(4096), torch.empty(4096), B=1024, grid=(4,), seconds=0)


@tileon.jit
def large_kernel(x, o, B: tl.constexpr):
    r = tl.arange(0, B)
    v = tl.load(x + r)
    v = tl.cumsum(v, 0)  # fault
    tl.store(o + r, v * tl.max(v, 0))


@row("spill")
def large():
    return large_kernel.explain(torch.rand(1 << 21), torch.empty(1 << 21), B=1 << 21, grid=(1,), seconds=0)


def across(x, o):
    o = x + 1  # noqa: F841 # fault


across_kernel = ninetoothed.make(
    lambda x, o: (x.tile((64, 64)), o.tile((64, 64))), across, (Tensor(2), Tensor(2))
)


@row("transpose")
def of_columns():
    return across_kernel.explain(torch.rand(256, 256).t(), torch.empty(256, 256), seconds=0)


@tilelang.jit
def serial_kernel(n):
    @T.prim_func
    def serial(x: T.Tensor((n, 256), "float32"), o: T.Tensor((n, 256), "float32")):
        with T.Kernel(n, threads=32) as b:
            line = T.alloc_shared((256,), "float32")
            T.copy(x[b, 0], line)
            for i in T.serial(255):
                line[i + 1] = line[i + 1] + line[i] * line[i]  # fault
            T.copy(line, o[b, 0])

    return serial


@row("scalar")
def serial():
    return serial_kernel(16).explain(torch.rand(16, 256), torch.empty(16, 256), seconds=0)


@tilelang.jit
def add_up_kernel(n):
    @T.prim_func
    def add_up(x: T.Tensor((n,), "float32"), o: T.Tensor((256,), "float32")):
        with T.Kernel(n // 256, threads=128) as b:
            for i in T.Parallel(256):
                T.atomic_add(o[i], x[b * 256 + i])  # fault

    return add_up


@row("atomics")
def add_up():
    return add_up_kernel(4096).explain(torch.rand(4096), torch.zeros(256), seconds=0)


@tilelang.jit
def table_kernel(n):
    @T.prim_func
    def table(x: T.Tensor((n,), "float32"), index: T.Tensor((n,), "int32"), o: T.Tensor((n,), "float32")):
        with T.Kernel(n // 256, threads=128) as b:
            for i in T.Parallel(256):
                o[b * 256 + i] = x[index[b * 256 + i]]  # fault

    return table


@row("gather")
def table():
    index = torch.randint(0, 4096, (4096,), dtype=torch.int32)
    return table_kernel(4096).explain(torch.rand(4096), index, torch.empty(4096), seconds=0)


@tilelang.jit
def elements_kernel(n):
    @T.prim_func
    def elements(x: T.Tensor((n, 256), "float32"), o: T.Tensor((n,), "float32")):
        with T.Kernel(n, threads=32) as b:
            s = T.alloc_fragment((1,), "float32")
            s[0] = 0.0
            for i in T.serial(256):  # fault
                s[0] = s[0] * 0.5 + x[b, i]
            o[b] = s[0]

    return elements


@row("scalar")
def elements():
    return elements_kernel(16).explain(torch.rand(16, 256), torch.empty(16), seconds=0)


@tileon.jit
def scaled_sum_kernel(a, b, s, c, K, M: tl.constexpr, B: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, B)
    acc = tl.zeros((M, M), tl.float32)
    for i in range(0, K, B):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * M + m[None, :])
        scale = tl.load(s + i + m)
        z = tl.dot(x, y)  # fault
        acc = acc * scale[:, None] + z
    tl.store(c + m[:, None] * M + m[None, :], acc)


@row("sum")
def scaled_sum():
    a, b, s = torch.rand(64, 256), torch.rand(256, 64), torch.rand(512)
    return scaled_sum_kernel.explain(a, b, s, torch.empty(64, 64), 256, M=64, B=16, grid=(1,), seconds=0)


@tileon.jit
def narrow_kernel(x, o, N, H: tl.constexpr, W: tl.constexpr):
    r, c = tl.arange(0, H), tl.program_id(0) * W + tl.arange(0, W)
    v = tl.load(x + r[:, None] * N + c[None, :])  # fault
    tl.store(o + c, tl.sum(v, 0))


def _narrow(width):
    x, o = torch.rand(2048, 64), torch.empty(64)
    return narrow_kernel.explain(x, o, 64, H=2048, W=width, grid=(64 // width,), seconds=0)


for _width in (1, 2, 4):
    ROWS[f"narrow{_width}"] = "gather", functools.partial(_narrow, _width)


def of_column(x, o):
    o = ntl.sum(x, 0)  # noqa: F841 # fault


of_column_kernel = ninetoothed.make(lambda x, o: (x.tile((2003, 1)), o.tile((1,))), of_column, (Tensor(2), Tensor(1)))


@row("gather")
def columns_of_rows():
    return of_column_kernel.explain(torch.rand(2003, 64), torch.empty(64), seconds=0)


@row("gather")
def columns_that_are_contiguous():
    return of_column_kernel.explain(torch.rand(64, 2003).t(), torch.empty(64), seconds=0)


@tilelang.jit
def thin_copy_kernel(m, n):
    @T.prim_func
    def thin_copy(x: T.Tensor((m, n), "float32"), o: T.Tensor((n,), "float32")):
        with T.Kernel(n, threads=128) as b:
            column, total = T.alloc_fragment((m, 1), "float32"), T.alloc_fragment((1,), "float32")
            T.copy(x[0, b], column)  # fault
            T.reduce_sum(column, total, dim=0)
            T.copy(total, o[b])

    return thin_copy


@row("gather")
def thin_copy():
    return thin_copy_kernel(256, 64).explain(torch.rand(256, 64), torch.empty(64), seconds=0)


@tileon.jit
def added_up_kernel(a, b, c, B: tl.constexpr):
    m = tl.arange(0, B)
    x = tl.load(a + m[:, None] * B + m[None, :])
    y = tl.load(b + m[:, None] * B + m[None, :])
    z = tl.sum(x[:, :, None] * y[None, :, :], 1)  # fault
    tl.store(c + m[:, None] * B + m[None, :], z)


@row("product")
def added_up():
    a, b, c = torch.rand(32, 32), torch.rand(32, 32), torch.empty(32, 32)
    return added_up_kernel.explain(a, b, c, B=32, grid=(1,), seconds=0)


# -- without a fault
@tileon.jit
def add_kernel(x, y, o, n, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    m = r < n
    tl.store(o + r, tl.load(x + r, mask=m) + tl.load(y + r, mask=m), mask=m)


@row(None)
def add():
    return add_kernel.explain(torch.rand(4000), torch.rand(4000), torch.empty(4000), 4000, B=1024, grid=(4,), seconds=0)


@tileon.jit
def softmax_kernel(x, o, N, B: tl.constexpr):
    row = tl.program_id(0)
    r = tl.arange(0, B)
    v = tl.load(x + row * N + r, mask=r < N, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * N + r, e / tl.sum(e, 0), mask=r < N)


@row(None)
def softmax():
    return softmax_kernel.explain(torch.rand(64, 1000), torch.empty(64, 1000), 1000, B=1024, grid=(64,), seconds=0)


@tileon.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@row(None)
def matmul():
    a, b, c = torch.rand(250, 192), torch.rand(192, 128), torch.empty(250, 128)
    return matmul_kernel.explain(a, b, c, 250, 128, 192, BM=64, BN=64, BK=32, grid=(4, 2), seconds=0)


def plus(x, y, o):
    o = x + y  # noqa: F841


plus_kernel = ninetoothed.make(lambda *a: tuple(t.tile((256,)) for t in a), plus, (Tensor(1), Tensor(1), Tensor(1)))


@row(None)
def ninetoothed_add():
    return plus_kernel.explain(torch.rand(4000), torch.rand(4000), torch.empty(4000), seconds=0)


@tilelang.jit(out_idx=[2])
def gemm_kernel(M, N, K):
    @T.prim_func
    def gemm(a: T.Tensor((M, K), "float32"), b: T.Tensor((K, N), "float32"), c: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (x, y):
            left, right = T.alloc_shared((64, 32), "float32"), T.alloc_shared((32, 64), "float32")
            sums = T.alloc_fragment((64, 64), "float32")
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                T.copy(a[y * 64, k * 32], left)
                T.copy(b[k * 32, x * 64], right)
                T.gemm(left, right, sums)
            T.copy(sums, c[y * 64, x * 64])

    return gemm


@row(None)
def tilelang_gemm():
    return gemm_kernel(128, 192, 64).explain(torch.rand(128, 64), torch.rand(64, 192), seconds=0)


@tileon.jit
def wrapped_matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Places that wrap around are divided once for a whole tile, and follow each other in nearly all: no fault.
    rm = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    rn = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        acc += tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]))
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@row(None)
def wrapped_matmul():
    a, b, c = torch.rand(256, 192), torch.rand(192, 128), torch.empty(256, 128)
    return wrapped_matmul_kernel.explain(a, b, c, 256, 128, 192, BM=64, BN=64, BK=32, grid=(4, 2), seconds=0)
