"""Elements of a tile that meet others of it: sorting networks of pairs, scans and reductions along each axis, at sizes beside
those of vectors, by the oracle and by machine code."""

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def exchange(x, ids, flip, width: tl.constexpr):
    shape: tl.constexpr = [x.numel // (2 * width), 2, width]
    second = tl.arange(0, 2)[None, :, None]
    pairs, names = tl.reshape(x, shape), tl.reshape(ids, shape)
    left = tl.reshape(tl.broadcast_to(tl.sum(pairs * (1 - second), 1)[:, None, :], shape).to(x.dtype), x.shape)
    right = tl.reshape(tl.broadcast_to(tl.sum(pairs * second, 1)[:, None, :], shape).to(x.dtype), x.shape)
    first_id = tl.reshape(tl.broadcast_to(tl.sum(names * (1 - second), 1)[:, None, :], shape), x.shape)
    second_id = tl.reshape(tl.broadcast_to(tl.sum(names * second, 1)[:, None, :], shape), x.shape)
    swap = ((left > right) | ((left == right) & (first_id > second_id))) != flip
    is_second = tl.reshape(tl.broadcast_to(second, shape), x.shape) != 0
    return tl.where(swap, tl.where(is_second, left, right), x), tl.where(swap, tl.where(is_second, first_id, second_id), ids)


@tileon.jit
def argsort(x_ptr, o_ptr, id_ptr, N: tl.constexpr, LOG: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x, ids = tl.load(x_ptr + at), tl.arange(0, N)
    for stage in tl.static_range(1, LOG + 1):
        block: tl.constexpr = 2**stage
        if stage < LOG:
            shape: tl.constexpr = [N // (2 * block), 2, block]
            flip = tl.reshape(tl.broadcast_to(tl.arange(0, 2)[None, :, None], shape), x.shape) != 0
        else:
            flip = tl.zeros_like(ids) != 0
        for step in tl.static_range(stage):
            x, ids = exchange(x, ids, flip, 2 ** (stage - 1 - step))
    tl.store(o_ptr + at, x)
    tl.store(id_ptr + at, ids)


NETWORKS = [(n, dtype) for n in (2, 8, 32, 128) for dtype in (torch.float32, torch.int32, torch.int64, torch.float16)]


@pytest.mark.parametrize("n, dtype", [*NETWORKS, (512, torch.float32)])
def test_sorting_network(engine, device, dtype, n):
    torch.manual_seed(n)
    x = torch.randint(-20, 20, (3, n)).to(dtype)
    out, ids = torch.empty_like(x), torch.empty(3, n, dtype=torch.int32)
    argsort[(3,)](x, out, ids, n, n.bit_length() - 1)
    expected = torch.sort(x.cpu(), stable=True, dim=1)
    assert torch.equal(out.cpu(), expected.values) and torch.equal(ids.cpu().long(), expected.indices)


@tileon.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@tileon.jit
def packed(left, right):
    a, b = (left >> 32) & 0xFFFFFFFF, left & 0xFFFFFFFF
    c, d = (right >> 32) & 0xFFFFFFFF, right & 0xFFFFFFFF
    return (((a * c) & 0xFFFFFFFF) << 32) | ((b * c + d) & 0xFFFFFFFF)


@tileon.jit
def scanned(x_ptr, sums, products, pairs, m, n, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask, at = (i < m) & (j < n), i * n + j
    x = tl.load(x_ptr + at, mask=mask, other=0)
    tl.store(sums + at, tl.cumsum(x, AXIS, reverse=REVERSE), mask=mask)
    _, sum_of = tl.associative_scan((x % 3, x), AXIS, affine, reverse=REVERSE)
    tl.store(products + at, sum_of, mask=mask)
    word = ((x % 3).to(tl.int64) << 32) | x.to(tl.int64)
    tl.store(pairs + at, tl.associative_scan(word, AXIS, packed, reverse=REVERSE) & 0xFFFFFFFF, mask=mask)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(5, 100, 8, 128), (40, 7, 64, 8), (1, 33, 1, 64), (3, 1, 4, 1), (17, 150, 32, 256)])
def test_scans(engine, device, shape, axis, reverse):
    m, n, rows, columns = shape
    if reverse:
        m, n = rows, columns  # what does not exist comes first then: 0
    x = torch.from_numpy(np.random.default_rng(m).integers(0, 3, (m, n))).to(torch.int32).to(device)
    sums, products, pairs = torch.empty_like(x), torch.empty_like(x), torch.empty(m, n, dtype=torch.int64)
    scanned[(1,)](x, sums, products, pairs, m, n, rows, columns, axis, reverse)
    values = x.cpu().numpy().astype(np.int64)
    values = np.moveaxis(np.flip(values, axis) if reverse else values, axis, 0)
    expected, state = [], None
    for row in values:
        state = (row % 3, row) if state is None else (state[0] * (row % 3), state[1] * (row % 3) + row)
        expected.append(state[1])
    back = lambda part: np.flip(np.moveaxis(part, 0, axis), axis) if reverse else np.moveaxis(part, 0, axis)  # noqa: E731
    np.testing.assert_array_equal(sums.cpu().numpy(), back(np.cumsum(values, 0)))
    np.testing.assert_array_equal(products.cpu().numpy(), back(np.array(expected)).astype(np.int32))
    np.testing.assert_array_equal(pairs.cpu().numpy() & 0xFFFFFFFF, back(np.array(expected)) & 0xFFFFFFFF)


@tileon.jit
def running(x_ptr, sums, products, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(sums + i, tl.cumsum(x, 0, reverse=REVERSE))
    tl.store(products + i, tl.cumprod(1 + x * 2**-10, 0, reverse=REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_are_rounded_once(engine, device, reverse):
    """A chain of f16 additions would stand still at 2048, and one of products at 1 + 2^-10 doubles its error with each step."""
    x = torch.ones(4096, dtype=torch.float16, device=device)
    sums, products = torch.empty_like(x), torch.empty_like(x)
    running[(1,)](x, sums, products, 4096, reverse)
    steps = torch.arange(1, 4097, dtype=torch.float64, device=sums.device)
    grown = (1 + 2.0**-10) ** steps
    if reverse:
        steps, grown = steps.flip(0), grown.flip(0)
    assert torch.equal(sums, steps.half())
    half, chain = 2.0**-11, 4096 * 2.0**-24
    assert ((products.double() - grown).abs() <= grown * (half + chain + half * chain)).all()


@tileon.jit
def columns(x_ptr, sums, largest, where, kept, m, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask, at = (i < m) & (j < n), i * n + j
    x = tl.load(x_ptr + at, mask=mask, other=-100)
    twice = x * 2 + 1
    column = tl.arange(0, N)
    tl.store(sums + column, tl.sum(tl.where(mask, twice, 0), 0), mask=column < n)
    tl.store(largest + column, tl.max(twice, 0), mask=column < n)
    tl.store(where + column, tl.argmax(x, 0), mask=column < n)
    tl.store(kept + at, twice - tl.max(twice, 0)[None, :], mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float64])
@pytest.mark.parametrize("shape", [(5, 100, 8, 128), (40, 7, 64, 8), (1, 33, 1, 64), (3, 1, 4, 1), (17, 250, 32, 256)])
def test_columns(engine, device, shape, dtype):
    m, n, rows, width = shape
    x = torch.from_numpy(np.random.default_rng(n).integers(-50, 50, (m, n))).to(dtype).to(device)
    (sums, largest), kept = torch.empty(2, n, dtype=dtype), torch.empty_like(x)
    where = torch.empty(n, dtype=torch.int32)
    columns[(1,)](x, sums, largest, where, kept, m, n, rows, width)
    values = x.cpu().numpy()
    twice = values * 2 + 1
    np.testing.assert_array_equal(sums.cpu().numpy(), twice.sum(0))
    np.testing.assert_array_equal(largest.cpu().numpy(), twice.max(0))
    np.testing.assert_array_equal(where.cpu().numpy(), values.argmax(0))
    np.testing.assert_array_equal(kept.cpu().numpy(), twice - twice.max(0))


@tileon.jit
def weighted(x_ptr, w_ptr, o_ptr, m, M: tl.constexpr, N: tl.constexpr):
    """Vectors of columns side by side take the same number of each row."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    w = tl.load(w_ptr + i, mask=i < m, other=0) * 2 + 1
    tl.store(o_ptr + j, tl.max(x * w[:, None], 0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float64])
@pytest.mark.parametrize("shape", [(5, 128), (64, 32), (7, 250), (2, 256)])
def test_weighted_columns(engine, device, shape, dtype):
    m, n = shape
    random = np.random.default_rng(n)
    x, w = (torch.from_numpy(random.integers(-9, 9, size)).to(dtype).to(device) for size in ((m, n), m))
    out = torch.empty(n, dtype=dtype)
    weighted[(1,)](x, w, out, m - 1, m, n)
    w = torch.where(torch.arange(m) < m - 1, w * 2 + 1, 1)
    np.testing.assert_array_equal(out.cpu().numpy(), (x * w[:, None]).amax(0).cpu().numpy())


@tileon.jit
def pick(x_ptr, i_ptr, v_ptr, m, n, M: tl.constexpr, N: tl.constexpr, LEAST: tl.constexpr, OTHER: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.program_id(0) * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * n + j, mask=(i < m) & (j < n), other=OTHER)
    if LEAST:
        values, places = tl.min(x, 0, return_indices=True)
    else:
        values, places = tl.max(x, 0, return_indices=True)
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(i_ptr + at, places, mask=at < n)
    tl.store(v_ptr + at, values, mask=at < n)


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.int8])
@pytest.mark.parametrize("m, n, rows, columns", [(500, 130, 512, 64), (7, 300, 8, 256), (33, 5, 64, 8)])
def test_picks_along_columns(engine, device, m, n, rows, columns, dtype, least):
    """Of equal ones the first, whichever thread has it."""
    x = torch.from_numpy(np.random.default_rng(m).integers(-9, 9, (m, n))).to(dtype)
    places, values = torch.full((n,), -7, dtype=torch.int32, device=device), torch.full((n,), 77, dtype=dtype, device=device)
    pick[(tileon.cdiv(n, columns),)](x.to(device), places, values, m, n, rows, columns, least, 100 if least else -100)
    expected = x.numpy().argmin(0) if least else x.numpy().argmax(0)
    assert np.array_equal(places.cpu(), expected)
    assert np.array_equal(values.cpu(), np.take_along_axis(x.numpy(), expected[None], 0)[0])


@tileon.jit
def smaller(a, i, b, j):
    first = (a < b) | ((a == b) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@tileon.jit
def least_so_far(x_ptr, o_ptr, i_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i * tl.num_programs(0) + tl.program_id(0)
    values, places = tl.associative_scan((tl.load(x_ptr + at, mask=i < n, other=100), i), 0, smaller)
    tl.store(o_ptr + at, values, mask=i < n)
    tl.store(i_ptr + at, places, mask=i < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
@pytest.mark.parametrize("n", [30, 1025, 2048])
def test_long_scans_of_pairs(engine, device, n, dtype):
    x = torch.from_numpy(np.random.default_rng(n).integers(-(2**20), 50, (n, 3))).to(dtype)
    out = torch.full((n, 3), 77, dtype=dtype, device=device)
    places = torch.full((n, 3), -7, dtype=torch.int32, device=device)
    least_so_far[(3,)](x.to(device), out, places, n, 1 << (n - 1).bit_length())
    expected = np.minimum.accumulate(x.numpy(), 0)
    assert np.array_equal(out.cpu(), expected)
    first = np.where(np.diff(expected, axis=0, prepend=101), np.arange(n)[:, None], 0)  # where the least one changes
    assert np.array_equal(places.cpu(), np.maximum.accumulate(first, 0))
