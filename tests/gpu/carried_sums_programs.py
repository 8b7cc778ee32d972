"""Loops that add up sums of rows. `turns` may be 0."""

import tileon
import tileon.language as tl


@tileon.jit
def sum_of_row(x_ptr, out_ptr, start, stride, n, turns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.load(start + row)
    for turn in range(turns):
        columns = turn * BLOCK + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0))
    tl.store(out_ptr + row, total)


@tileon.jit
def rows_times_vector(x_ptr, y_ptr, out_ptr, stride, n, turns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    total = tl.zeros((ROWS, 1), dtype=tl.float32)
    for turn in range(turns):
        columns = turn * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + rows * stride + columns[None, :], mask=columns[None, :] < n, other=0).to(tl.float32)
        y = tl.load(y_ptr + columns, mask=columns < n, other=0).to(tl.float32)
        total = tl.sum(x * y[None, :], axis=1, keep_dims=True) + total
    tl.store(out_ptr + rows, total)


@tileon.jit
def sum_and_squares(x_ptr, out_ptr, stride, n, turns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    squares = 1.0
    for turn in range(turns):
        columns = turn * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0).to(tl.float32)
        total += tl.sum(x, axis=0)
        squares += tl.sum(x * x, axis=0)
    tl.store(out_ptr + row * 2, total)
    tl.store(out_ptr + row * 2 + 1, squares)


@tileon.jit
def running_sum(x_ptr, out_ptr, stride, n, turns, BLOCK: tl.constexpr):
    """What each turn has so far is stored."""
    row = tl.program_id(0)
    total = 0.0
    for turn in range(turns):
        columns = turn * BLOCK + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0).to(tl.float32), axis=0)
        tl.store(out_ptr + row * turns + turn, total)


@tileon.jit
def compensated(x_ptr, out_ptr, stride, n, turns, BLOCK: tl.constexpr):
    """Kahan's sum: its order is what it is about."""
    row = tl.program_id(0)
    total = 0.0
    lost = 0.0
    for turn in range(turns):
        columns = turn * BLOCK + tl.arange(0, BLOCK)
        here = tl.sum(tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0).to(tl.float32), axis=0) - lost
        after = total + here
        lost = (after - total) - here
        total = after
    tl.store(out_ptr + row, total)
