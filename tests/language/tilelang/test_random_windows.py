"""Random programs in which threads of a role store elements into a window, in loops, at places made of parts of their
numbers: the oracle, machine code and Python agree. Digits may be left out (threads then store alike), leave gaps or stand in
any order; rows may be masked."""

import math
import random

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

THREADS, ROWS, COLUMNS, TABLE = 64, 24, 48, 40


class Window:
    """What a seed stands for: how a thread's number is taken apart, loops, and which digits count rows, which columns."""

    def __init__(self, seed):
        rng = random.Random(seed)
        parts, left = [], THREADS
        while left > 1:
            parts.append(rng.choice([n for n in (2, 4, 8, 16) if left % n == 0]))
            left //= parts[-1]
        self.parts = tuple(parts)  # the least significant first
        self.loops = tuple(rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 2)))
        self.width = rng.choice([1, 1, 2, 4])  # elements side by side
        digits = list(range(len(parts) + len(self.loops)))
        rng.shuffle(digits)
        extents = self.parts + self.loops
        self.rows, self.columns, row, column = [], [], 1, self.width  # (digit, how much it counts)
        for digit in digits:
            gap = 2 if rng.random() < 0.08 else 1
            if row * gap * extents[digit] <= ROWS and rng.random() < 0.5:
                self.rows.append((digit, row * gap))
                row *= gap * extents[digit]
            elif column * gap * extents[digit] <= COLUMNS and rng.random() < 0.9:
                self.columns.append((digit, column * gap))
                column *= gap * extents[digit]
        self.rows, self.columns = tuple(self.rows), tuple(self.columns)
        self.begin = (rng.randint(0, ROWS - row), rng.randint(0, COLUMNS - column))
        self.mask = rng.choice(["none", "flag", "kept flag", "column"])
        self.bits = rng.random() < 0.5  # digits by shifts and masks
        self.counted = rng.random() < 0.3  # what is stored hangs on a digit of the row
        self.outside = rng.random() < 0.5  # where the index is kept

    def program(self):
        parts, loops, width, mask, counted = self.parts, self.loops, self.width, self.mask, self.counted
        row_digits, column_digits, (row_begin, column_begin) = self.rows, self.columns, self.begin
        strides = tuple(math.prod(parts[:i]) for i in range(len(parts)))
        turns = (*loops, 1, 1)[:2]
        bits, outside = self.bits, self.outside

        def place(begin, digits, t, counters):
            total = begin
            for digit, factor in digits:
                if digit >= len(parts):
                    number = counters[digit - len(parts)]
                elif bits:
                    number = (t >> int(math.log2(strides[digit]))) & (parts[digit] - 1)
                else:
                    number = t // strides[digit] % parts[digit]
                total = total + number * factor
            return total

        @T.prim_func
        def main(
            X: T.Tensor((TABLE, COLUMNS), "float32"),
            Index: T.Tensor((3, ROWS), "int32"),
            Y: T.Tensor((3, ROWS, COLUMNS), "float32"),
        ):
            with T.Kernel(1, threads=128 + THREADS):
                tile, flags = T.alloc_shared((ROWS, COLUMNS), "float32"), T.alloc_shared((ROWS,), "bool", scope="shared")
                full, empty = T.alloc_barrier(THREADS), T.alloc_barrier(128)
                T.fill(tile, -1)
                if outside:
                    index = T.alloc_var("int32")
                tx = T.get_thread_binding()
                if tx < 128:
                    for k in T.serial(3):
                        T.barrier_wait(full, k & 1)
                        T.copy(tile, Y[k, :, :])
                        T.barrier_arrive(empty)
                else:
                    if not outside:
                        index = T.alloc_var("int32")
                    for k in T.serial(3):
                        T.barrier_wait(empty, (k & 1) ^ 1)
                        for u in T.serial(turns[0]):
                            for v in T.serial(turns[1]):
                                row = place(row_begin, row_digits, tx - 128, (u, v))
                                column = place(column_begin, column_digits, tx - 128, (u, v))
                                index = Index[k, row]
                                if mask == "kept flag":
                                    flags[row] = index >= 0
                                    if flags[row]:
                                        for e in T.vectorized(width):
                                            tile[row, column + e] = X[index, column + e]
                                elif mask == "flag":
                                    if index >= 0:
                                        for e in T.vectorized(width):
                                            tile[row, column + e] = X[index, column + e]
                                elif mask == "column":
                                    if column % 3 != 0:
                                        for e in T.vectorized(width):
                                            tile[row, column + e] = X[T.max(index, 0), column + e]
                                else:
                                    for e in T.vectorized(width):
                                        if counted:
                                            tile[row, column + e] = X[T.max(index, 0), column + e] + row
                                        else:
                                            tile[row, column + e] = X[T.max(index, 0), column + e]
                        T.barrier_arrive(full)

        return main

    def right(self, x, index):
        strides = [math.prod(self.parts[:i]) for i in range(len(self.parts))]
        turns = (*self.loops, 1, 1)[:2]
        tile, result = torch.full((ROWS, COLUMNS), -1.0), []
        for k in range(3):
            for t in range(THREADS):
                for u in range(turns[0]):
                    for v in range(turns[1]):
                        numbers = [t // s % n for s, n in zip(strides, self.parts, strict=True)] + [u, v]
                        row = self.begin[0] + sum(numbers[digit] * factor for digit, factor in self.rows)
                        column = self.begin[1] + sum(numbers[digit] * factor for digit, factor in self.columns)
                        i = int(index[k, row])
                        if (self.mask in ("flag", "kept flag") and i < 0) or (self.mask == "column" and column % 3 == 0):
                            continue
                        values = x[max(i, 0), column : column + self.width]
                        tile[row, column : column + self.width] = values + (row if self.mask == "none" and self.counted else 0)
            result.append(tile.clone())
        return torch.stack(result)


def check(seed):
    window = Window(seed)
    torch.manual_seed(seed)
    x = torch.randint(-99, 99, (TABLE, COLUMNS)).float()
    index = torch.randint(-8, TABLE, (3, ROWS), dtype=torch.int32)
    out = torch.full((3, ROWS, COLUMNS), float("nan"))
    tilelang.compile(window.program())(x, index, out)
    assert (out == window.right(x, index)).all(), f"seed {seed}"


@pytest.mark.parametrize("seed", range(24))
def test_windows(seed, engine):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_many_windows(seed, engine):
    check(seed)
