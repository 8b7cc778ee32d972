"""Atomic updates whose old values nobody reads: by one thread alone, which needs no indivisible steps, by several, and beside
other launches. Numbers are small integers, so that sums in any order are exact."""

import threading

import numpy as np
import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl

INTEGERS = (torch.int32, torch.int64)
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


@tileon.jit
def scattered(out, places, values, n, OP: tl.constexpr, SCOPE: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    place = tl.load(places + at, mask=at < n, other=0)
    value = tl.load(values + at, mask=at < n, other=0)
    if OP == "add":
        tl.atomic_add(out + place, value, mask=(at < n) & (place >= 0), scope=SCOPE)
    elif OP == "max":
        tl.atomic_max(out + place, value, mask=(at < n) & (place >= 0), scope=SCOPE)
    else:
        tl.atomic_xor(out + place, value, mask=(at < n) & (place >= 0), scope=SCOPE)


@tileon.jit
def rows_added(out, rows, values, m, n, stride, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    mask = (i[:, None] < m) & (j[None, :] < n)
    row = tl.load(rows + i, mask=i < m, other=0)
    tl.atomic_add(out + row[:, None] * stride + j[None, :], tl.load(values + i[:, None] * n + j[None, :], mask=mask), mask=mask)


@tileon.jit
def one_place(out, values, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + at * 0, tl.load(values + at, mask=at < n), mask=at < n)
    tl.atomic_add(out + 1 + at * 0, 1.0)  # the same number for all


@tileon.jit
def tickets(lock, counter, out, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(counter, tl.load(counter) + 1)
    tl.atomic_add(out + tl.arange(0, B), 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.fixture(params=[1, 2])
def threads(request):
    _native.set_num_threads(request.param)
    yield request.param
    _native.set_num_threads(0)


def numbers(dtype, n, cells, seed=0):
    random = np.random.default_rng(seed)
    values = torch.from_numpy(random.integers(0, 4, n)).to(dtype)
    return torch.from_numpy(random.integers(-1, cells, n)), values


@pytest.mark.pairs
@pytest.mark.parametrize("scope", ["gpu", "sys"])
@pytest.mark.parametrize(
    ("op", "dtype"),
    [("add", dtype) for dtype in (*INTEGERS, *FLOATS)]
    + [("max", dtype) for dtype in (*INTEGERS, *FLOATS[:2])]
    + [("xor", dtype) for dtype in INTEGERS],
)
def test_scattered(dtype, op, scope, threads):
    cells = 700
    for n, block in ((5000, 128), (1000, 16), (37, 64), (1, 64), (4096, 1)):
        places, values = numbers(dtype, n, cells, n)
        out = torch.zeros(cells, dtype=dtype)
        expected = np.zeros(cells, np.int64)
        there = places.numpy() >= 0
        ufunc = {"add": np.add, "max": np.maximum, "xor": np.bitwise_xor}[op]
        for _ in range(3):  # by another number of threads, once the first launch has shown what programs cost
            scattered[(-(-n // block),)](out, places, values, n, op, scope, block)
            ufunc.at(expected, places.numpy()[there], values.to(torch.int64).numpy()[there])
        np.testing.assert_array_equal(out.to(torch.int64).numpy(), expected)


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.int32, *FLOATS])
@pytest.mark.parametrize("shape", [(100, 64, 64), (33, 50, 61), (7, 1, 3), (64, 200, 200), (1, 1, 1)])
def test_rows(dtype, shape, threads):
    m, n, stride = shape
    random = np.random.default_rng(m)
    rows, values = torch.from_numpy(random.integers(0, 9, m)), torch.from_numpy(random.integers(-3, 4, (m, n))).to(dtype)
    for tile in ((1, 256), (16, 32), (8, 5)):
        out = torch.full((9 * stride + n,), 2, dtype=dtype)
        expected = out.double().numpy()
        for _ in range(3):
            rows_added[(-(-m // tile[0]), -(-n // tile[1]))](out, rows, values, m, n, stride, *tile)
            for row, value in zip(rows.tolist(), values.double().numpy(), strict=True):
                expected[row * stride : row * stride + n] += value
        np.testing.assert_array_equal(out.double().numpy(), expected)


def test_one_place(threads):
    values = torch.ones(1000)
    out = torch.zeros(2)
    one_place[(8,)](out, values, 1000, 128)
    assert out.tolist() == [1000, 1024]


def test_a_lock_that_programs_wait_for(threads):
    lock, counter, out = (torch.zeros(n, dtype=torch.int32) for n in (1, 1, 16))
    tickets[(200,)](lock, counter, out, 16)
    assert counter.item() == 200 and out.tolist() == [200] * 16


@pytest.mark.parametrize("own", [1, 2])
def test_launches_of_several_threads(own):
    """Each would update alone; none may lose what another adds."""
    _native.set_num_threads(own)
    try:
        cells, n, launches = 64, 4096, 40
        places, values = numbers(torch.float32, n, cells)
        out = torch.zeros(cells)
        scattered[(n // 64,)](out, places, values, n, "add", "gpu", 64)
        once = out.clone()
        start = threading.Barrier(3)

        def work():
            start.wait()
            for _ in range(launches):
                scattered[(n // 64,)](out, places, values, n, "add", "gpu", 64)

        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        np.testing.assert_array_equal(out.numpy(), (once * (3 * launches + 1)).numpy())
    finally:
        _native.set_num_threads(0)
