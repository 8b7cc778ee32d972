"""Kernels in which elements meet others: sorted and scanned rows, updates of computed places."""

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def sort_rows(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o_ptr + at, tl.sort(tl.load(x_ptr + at)))


@tileon.jit
def top_of_rows(x_ptr, o_ptr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o_ptr + row * K + tl.arange(0, K), tl.topk(tl.load(x_ptr + row * N + tl.arange(0, N)), K))


@tileon.jit
def sums_along_rows(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o_ptr + at, tl.cumsum(tl.load(x_ptr + at), 0))


@tileon.jit
def sums_down_columns(x_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr):
    column = tl.program_id(0) * N + tl.arange(0, N)[None, :]
    at = tl.arange(0, M)[:, None] * n + column
    tl.store(o_ptr + at, tl.cumsum(tl.load(x_ptr + at, mask=column < n), 0), mask=column < n)


@tileon.jit
def largest_of_rows(x_ptr, o_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o_ptr + row, tl.argmax(tl.load(x_ptr + row * N + tl.arange(0, N)), 0).to(tl.int64))


@tileon.jit
def scatter_add(o_ptr, places, values, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(o_ptr + tl.load(places + at, mask=mask, other=0), tl.load(values + at, mask=mask), mask=mask)


@tileon.jit
def add_rows(o_ptr, rows, values, N: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(o_ptr + tl.load(rows + row) * N + column, tl.load(values + row * N + column))
