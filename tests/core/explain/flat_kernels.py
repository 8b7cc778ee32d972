"""Kernels that number the elements of a matrix through, whose neighbours lie apart in memory or do not: rows of `ROWS`."""

import functools

import torch
from core.explain.faulty_kernels import ROWS, row

from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl

GRID = (63,)  # of 250 x 128 elements, 512 a program


@tileon.jit
def read_turned(x, o, M, N, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + (i % M) * N + i // M, mask=i < n)  # fault
    tl.store(o + i, v, mask=i < n)


@tileon.jit
def read_turned_by_constants(x, o, M: tl.constexpr, N: tl.constexpr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + (i % M) * N + i // M, mask=i < n)  # fault
    tl.store(o + i, v, mask=i < n)


@tileon.jit
def write_turned(x, o, M, N, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + (i % M) * N + i // M, v, mask=i < n)  # fault


@tileon.jit
def write_turned_by_constants(x, o, M: tl.constexpr, N: tl.constexpr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + (i % M) * N + i // M, v, mask=i < n)  # fault


@tileon.jit(do_not_specialize=["down", "across"])
def strided(x, o, down, across, width, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + (i // width) * down + (i % width) * across, mask=i < n)  # fault
    tl.store(o + i, v, mask=i < n)


@tileon.jit
def squares(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i * i)  # fault
    tl.store(o + i, v)


TURNED = {
    "read_turned": ("gather", read_turned),
    "read_turned_by_constants": ("gather", read_turned_by_constants),
    "write_turned": ("scatter", write_turned),
    "write_turned_by_constants": ("scatter", write_turned_by_constants),
}


def turned(kernel, rows):
    columns = 32000 // rows
    x, o = torch.rand(rows, columns), torch.empty(columns, rows)
    return kernel.explain(x, o, rows, columns, 32000, B=512, grid=GRID, seconds=0)


for _name, (_fault, _kernel) in TURNED.items():
    for _rows in (250, 4):  # rows that code walks one after another, and such as are too short for that
        ROWS[f"{_name}_{_rows}"] = _fault, functools.partial(turned, _kernel, _rows)


def _strided(down, across):
    return strided.explain(torch.rand(250, 512), torch.empty(32000), down, across, 128, 32000, B=512, grid=GRID, seconds=0)


for _name, _fault, _strides in (
    ("rows_apart", None, (512, 1)),
    ("one_row", None, (0, 1)),
    ("every_third_of_rows", None, (512, 3)),
    ("columns", "gather", (1, 250)),
    ("every_fourth_of_rows", "gather", (512, 4)),
):
    ROWS[_name] = _fault, functools.partial(_strided, *_strides)


@row("gather")
def places_of_squares():
    return squares.explain(torch.rand(512 * 512), torch.empty(512), B=512, grid=(64,), seconds=0)


def flat(x, o):
    o = x + 1  # noqa: F841 # fault


flat_kernel = ninetoothed.make(
    lambda x, o: (x.flatten().tile((512,)), o.flatten().tile((512,))), flat, (Tensor(2), Tensor(2))
)


@row(None)
def flattened():
    return flat_kernel.explain(torch.rand(250, 128), torch.empty(250, 128), seconds=0)


@row("gather")
def flattened_columns():
    return flat_kernel.explain(torch.rand(128, 250).t(), torch.empty(250, 128), seconds=0)


@tilelang.jit
def turned_kernel(m, n):
    @T.prim_func
    def turned(x: T.Tensor((m, n), "float32"), o: T.Tensor((m * n,), "float32")):
        with T.Kernel(T.ceildiv(m * n, 512), threads=128) as b:
            for i in T.Parallel(512):
                if b * 512 + i < m * n:
                    o[b * 512 + i] = x[(b * 512 + i) % m, (b * 512 + i) // m]  # fault

    return turned


@row("gather")
def turned_points():
    return turned_kernel(250, 128).explain(torch.rand(250, 128), torch.empty(32000), seconds=0)


@row("gather")
def turned_points_of_any_size():
    sizes = T.dynamic("m"), T.dynamic("n")
    return turned_kernel(*sizes).explain(torch.rand(250, 128), torch.empty(32000), seconds=0)
