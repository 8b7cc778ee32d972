"""Stores to memory of two elements a byte in parallel loops: neighbours are stored by one iteration."""

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

M, N = 6, 16


def packed(values):
    low, high = values[..., 0::2] & 15, values[..., 1::2] & 15
    return (low | high << 4).astype(np.uint8)


@T.macro
def two_variables(A, B):
    for i, j in T.Parallel(M, N):
        B[i, j] = A[i, j]


@T.macro
def nested(A, B):
    for i in T.Parallel(M):
        for j in T.Parallel(N):
            B[i, j] = A[i, j]


@T.macro
def turned_variables(A, B):
    for j, i in T.Parallel(N, M):
        B[i, j] = A[i, j]


@T.macro
def a_row_at_a_time(A, B):
    for i in T.serial(M):
        for j in T.Parallel(N):
            B[i, j] = A[i, j]


@T.macro
def from_an_even_place(A, B):
    for half in T.serial(2):
        for i, j in T.Parallel(M, N // 2):
            B[i, half * (N // 2) + j] = A[i, half * (N // 2) + j]


@T.macro
def backwards(A, B):
    for i, j in T.Parallel(M, N):
        B[i, N - 1 - j] = A[i, N - 1 - j]


@T.macro
def two_by_hand(A, B):
    for i, j in T.Parallel(M, N // 2):
        B[i, 2 * j] = A[i, 2 * j]
        B[i, 2 * j + 1] = A[i, 2 * j + 1]


@T.macro
def four_by_hand(A, B):
    for i, j in T.Parallel(M, N // 4):
        for k in T.serial(4):
            B[i, 4 * j + k] = A[i, 4 * j + k]


@T.macro
def two_variables_of_the_last_index(A, B):
    for i, j, k in T.Parallel(M, N // 2, 2):
        B[i, j * 2 + k] = A[i, j * 2 + k]


@T.macro
def under_a_condition(A, B):
    for i, j in T.Parallel(M, N):
        if j < N - 1:
            B[i, j] = A[i, j]
    for i, j in T.Parallel(M, N):
        if j == N - 1:
            B[i, j] = A[i, j]


@T.macro
def by_a_fragment(A, B):
    tile = T.alloc_fragment((M, N), B.dtype)
    for i, j in T.Parallel(M, N):
        tile[i, j] = A[i, j]
    T.copy(tile, B)


@T.macro
def by_a_shared_buffer(A, B):
    tile = T.alloc_shared((M, N), B.dtype)
    for i, j in T.Parallel(M, N):
        tile[i, j] = A[i, j]
    for i, j in T.Parallel(M, N):
        B[i, j] = tile[i, j]


BODIES = [
    two_variables,
    nested,
    turned_variables,
    a_row_at_a_time,
    from_an_even_place,
    backwards,
    two_by_hand,
    four_by_hand,
    two_variables_of_the_last_index,
    under_a_condition,
    by_a_fragment,
    by_a_shared_buffer,
]


@pytest.mark.parametrize("kind", ["int4", "float4_e2m1fn"])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_every_element_is_stored(engine, body, kind):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), kind)):
        with T.Kernel(1, threads=32):
            body(A, B)

    codes = np.random.default_rng(3).integers(0, 16, (M, N))
    if kind == "int4":
        values = np.where(codes > 7, codes - 16, codes)
    else:
        codes = np.where(codes == 8, 0, codes)  # no -0, which is equal to 0
        sizes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        values = np.where(codes > 7, -sizes[codes % 8], sizes[codes % 8])
    out = torch.full((M, N // 2), 0x5A, dtype=torch.uint8)
    tilelang.compile(main)(torch.tensor(values, dtype=torch.float32), out)
    assert (out.cpu().numpy() == packed(codes)).all()


@pytest.mark.parametrize("size", [15, 1, 7])
def test_an_odd_number_of_elements(engine, size):
    """What the loop does not reach keeps its half of the last byte."""

    @T.prim_func
    def main(A: T.Tensor((16,), "int32"), B: T.Tensor((16,), "uint4"), n: T.int32):
        with T.Kernel(1, threads=32):
            for j in T.Parallel(size):
                B[j] = A[j]
            for j in T.Parallel(n):
                B[j] += 1

    values = np.arange(16) % 14
    out = torch.full((8,), 0xFF, dtype=torch.uint8)
    tilelang.compile(main)(torch.tensor(values, dtype=torch.int32), out, size)
    expected = np.where(np.arange(16) < size, values + 1, 15)
    assert (out.cpu().numpy() == packed(expected)).all()


def test_ragged_blocks(engine):
    rows, columns = 5, 22

    @T.prim_func
    def main(A: T.Tensor((rows, columns), "int32"), B: T.Tensor((rows, columns), "uint4")):
        with T.Kernel(T.ceildiv(columns, 8), T.ceildiv(rows, 4), threads=32) as (bx, by):
            for i, j in T.Parallel(4, 8):
                if by * 4 + i < rows and bx * 8 + j < columns:
                    B[by * 4 + i, bx * 8 + j] = A[by * 4 + i, bx * 8 + j] + 1

    values = np.random.default_rng(5).integers(0, 15, (rows, columns))
    out = torch.zeros(rows, columns // 2, dtype=torch.uint8)
    tilelang.compile(main)(torch.tensor(values, dtype=torch.int32), out)
    assert (out.cpu().numpy() == packed(values + 1)).all()


def test_places_that_iterations_would_share_say_so():
    def odd_start(A: T.Tensor((16,), "int4")):
        with T.Kernel(1):
            for i in T.Parallel(8):
                A[i + 1] = 1

    def unknown_start(A: T.Tensor((16,), "int4"), n: T.int32):
        with T.Kernel(1):
            for i in T.Parallel(8):
                A[n + i] = 1

    def diagonal(A: T.Tensor((16,), "int4")):
        with T.Kernel(1):
            for i, j in T.Parallel(4, 4):
                A[i + j] = 1

    def steps_of_three(A: T.Tensor((16,), "int4")):
        with T.Kernel(1):
            for i in T.Parallel(4):
                for k in T.serial(2):
                    A[i * 2 + k + 1] = 1

    def by_threads(A: T.Tensor((32,), "int4")):
        with T.Kernel(1, threads=32):
            A[T.get_thread_binding()] = 1

    for program in (odd_start, unknown_start, diagonal, steps_of_three, by_threads):
        with pytest.raises(NotImplementedError, match="`A` has two elements a byte, which (iterations|threads) side by side"):
            T.prim_func(program)
