"""Kernels whose tiles are too small, too narrow or turned the wrong way, and those where such tiles are right: rows of `ROWS`."""


import torch
from core.explain.faulty_kernels import matmul_kernel, row

from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl

BLOCK = Symbol("BLOCK", constexpr=True)


@tileon.jit
def few_rows_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :])
        y = tl.load(b + rk[:, None] * N + rn[None, :])
        acc += tl.dot(x, y)  # fault
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@row("small")
def few_rows():
    a, b, c = torch.rand(128, 64), torch.rand(64, 128), torch.empty(128, 128)
    return few_rows_kernel.explain(a, b, c, 128, 128, 64, BM=2, BN=16, BK=16, grid=(64, 8), seconds=0)


@row(None)
def there_are_no_more_rows():
    a, b, c = torch.rand(2, 256), torch.rand(256, 128), torch.empty(2, 128)
    return matmul_kernel.explain(a, b, c, 2, 128, 256, BM=2, BN=16, BK=16, grid=(1, 8), seconds=0)


@tilelang.jit
def column_sums_kernel(n, rows, columns):
    @T.prim_func
    def column_sums(x: T.Tensor((256, n), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(n // columns, threads=128) as b:
            part, sums = T.alloc_fragment((rows, columns), "float32"), T.alloc_fragment((columns,), "float32")
            T.clear(sums)
            for k in T.serial(256 // rows):
                T.copy(x[k * rows, b * columns], part)  # fault
                T.reduce_sum(part, sums, dim=0, clear=False)
            T.copy(sums, y[b * columns])

    return column_sums


def doubles(x, o):
    o = ntl.exp(ntl.cast(x, ntl.float64))  # noqa: F841  # fault


doubles_kernel = ninetoothed.make(lambda x, o: (x.tile((1, -1)), o.tile((1, -1))), doubles, (Tensor(2), Tensor(2)))


@row("conversion")
def a_row_of_doubles_is_no_transpose():
    return doubles_kernel.explain(torch.rand(16, 700), torch.empty(16, 700), seconds=0)


@tileon.jit
def sum_kernel(x, o, n, B: tl.constexpr):
    total = 0.0
    for i in range(0, n, B):
        part = tl.load(x + tl.program_id(0) * n + i + tl.arange(0, B))  # fault
        total += tl.sum(part, axis=0)
    tl.store(o + tl.program_id(0), total)


@row("small")
def a_sum_of_one_vector_each_turn():
    return sum_kernel.explain(torch.rand(16, 4096), torch.empty(16), 4096, B=8, grid=(16,), seconds=0)


@row(None)
def sums_of_some_vectors_each_turn():
    return sum_kernel.explain(torch.rand(16, 4096), torch.empty(16), 4096, B=256, grid=(16,), seconds=0)


@row("small")
def less_than_a_vector_each_turn():
    return column_sums_kernel(64, 1, 4).explain(torch.rand(256, 64), torch.empty(64), seconds=0)


@row(None)
def vectors_each_turn():
    return column_sums_kernel(64, 16, 64).explain(torch.rand(256, 64), torch.empty(64), seconds=0)


@tileon.jit
def rows_apart_kernel(x, o, stride, B: tl.constexpr, D: tl.constexpr):
    r, d = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    v = tl.load(x + r[:, None] * stride + d[None, :])  # fault
    tl.store(o + r[:, None] * D + d[None, :], v * 2)


def _rows_apart(extent):
    x, o = torch.rand(256, 100), torch.empty(256, extent)
    return rows_apart_kernel.explain(x, o, 100, B=64, D=extent, grid=(4,), seconds=0)


@row("gather")
def rows_of_three():
    return _rows_apart(3)


@row(None)
def rows_of_most_of_a_vector():
    return _rows_apart(15)


@tileon.jit
def rows_picked_kernel(x, index, o, stride, B: tl.constexpr, D: tl.constexpr):
    r, d = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    i = tl.load(index + r)
    v = tl.load(x + i[:, None] * stride + d[None, :])  # fault
    tl.store(o + r[:, None] * D + d[None, :], v * 2)


@row("gather")
def rows_picked():
    x, index, o = torch.rand(256, 100), torch.randint(0, 256, (256,)), torch.empty(256, 4)
    return rows_picked_kernel.explain(x, index, o, 100, B=64, D=4, grid=(4,), seconds=0)


@row(None)
def long_rows_picked():
    x, index, o = torch.rand(256, 100), torch.randint(0, 256, (256,)), torch.empty(256, 64)
    return rows_picked_kernel.explain(x, index, o, 100, B=64, D=64, grid=(4,), seconds=0)


def _windows(x, y):
    x = x.pad(((0, 0), (3, 3))).tile((1, 7), strides=(1, 1))
    x = x.ravel().tile((1, BLOCK, 1, 7)).squeeze((2, 3))
    x.dtype = x.dtype.squeeze((0, 2))
    y = y.tile((1, BLOCK))
    y.dtype = y.dtype.squeeze(0)
    return x, y


def _windows_in_front(x, y):
    x, y = _windows(x, y)
    x.dtype = x.dtype.permute((1, 0))
    return x, y


def average(x, y):
    y = ntl.sum(x, 1) / 7  # noqa: F841 # fault


def average_in_front(x, y):
    y = ntl.sum(x, 0) / 7  # noqa: F841


average_kernel = ninetoothed.make(_windows, average, (Tensor(2), Tensor(2)))
average_in_front_kernel = ninetoothed.make(_windows_in_front, average_in_front, (Tensor(2), Tensor(2)))


@row("gather")
def windows_in_the_last_dimension():
    return average_kernel.explain(torch.rand(8, 500), torch.empty(8, 500), BLOCK=128, seconds=0)


@row(None)
def windows_in_front():
    return average_in_front_kernel.explain(torch.rand(8, 500), torch.empty(8, 500), BLOCK=128, seconds=0)


def _pool(x, y):
    x = x.tile((1, 3, 3), strides=(1, 2, 2), floor_mode=True).ravel()
    x = x.tile((1, 1, BLOCK, 1, 3, 3)).squeeze((3, 4, 5))
    x.dtype = x.dtype.squeeze((0, 1, 3)).permute((1, 2, 0))
    y = y.tile((1, 1, BLOCK))
    y.dtype = y.dtype.squeeze((0, 1))
    return x, y


def pool(x, y):
    y = ntl.max(ntl.max(x, 0), 0)  # noqa: F841


pool_kernel = ninetoothed.make(_pool, pool, (Tensor(3), Tensor(3)))


@row(None)
def windows_two_apart_in_front():
    return pool_kernel.explain(torch.rand(2, 33, 257), torch.empty(2, 16, 128), BLOCK=64, seconds=0)


def _windows_of_two(x, y):
    x = x.tile((2, 2)).tile((1, BLOCK))
    x.dtype = x.dtype.squeeze(0).ravel()
    y = y.tile((1, BLOCK))
    y.dtype = y.dtype.squeeze(0)
    return x, y


def _windows_of_two_in_front(x, y):
    x, y = _windows_of_two(x, y)
    x.dtype = x.dtype.permute((1, 2, 0))
    return x, y


def largest_of_four(x, y):
    y = ntl.max(ntl.max(x, 2), 1)  # noqa: F841 # fault


def largest_of_four_in_front(x, y):
    y = ntl.max(ntl.max(x, 0), 0)  # noqa: F841


halving_kernel = ninetoothed.make(_windows_of_two, largest_of_four, (Tensor(2), Tensor(2)))
halving_in_front_kernel = ninetoothed.make(_windows_of_two_in_front, largest_of_four_in_front, (Tensor(2), Tensor(2)))


@row("gather")
def windows_of_two_side_by_side():
    return halving_kernel.explain(torch.rand(32, 256), torch.empty(16, 128), BLOCK=64, seconds=0)


@row(None)
def windows_of_two_in_front():
    return halving_in_front_kernel.explain(torch.rand(32, 256), torch.empty(16, 128), BLOCK=64, seconds=0)
