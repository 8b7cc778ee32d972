"""Whole programs: vector add, softmax, layer norm, histogram, control flow."""

import numpy as np
import pytest
import torch
from language import bounds
from language.bounds import within
from language.tileon import kernels

from tilery import _native, tileon

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]


@pytest.mark.parametrize("n", [0, 1, 31, 1024, 1025, 5000])
def test_add(n):
    x, y = torch.rand(n), torch.rand(n)
    out = torch.full((n + 3,), 7.0)
    kernels.add[lambda meta: (tileon.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, out, n, BLOCK_SIZE=1024)
    assert torch.equal(out[:n], x + y) and (out[n:] == 7.0).all()


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_add_types(dtype):
    if dtype in FLOATS:
        x, y = torch.randn(100).to(dtype), torch.randn(100).to(dtype)
        expected = x + y
    else:
        kind = getattr(np, str(dtype).partition(".")[2])
        info = np.iinfo(kind)
        a, b = (np.random.randint(info.min, info.max, 100, dtype=kind) for _ in range(2))
        x, y, expected = torch.tensor(a), torch.tensor(b), torch.tensor(a + b)
    out = torch.zeros(100, dtype=dtype)
    kernels.add[(4,)](x, y, out, 100, BLOCK_SIZE=32)
    assert torch.equal(out.view(torch.uint8), expected.view(torch.uint8))


@pytest.mark.parametrize("grid", [(3,), [3], (3, 1, 1), lambda meta: [3]])
def test_grids(grid):
    x = torch.rand(96)
    out = torch.empty(96)
    kernels.add[grid](x, x, out, 96, 32)
    assert torch.equal(out, x + x)


def test_in_place_and_overlapping():
    x = torch.arange(100.0)
    kernels.add[(4,)](x, x, x, 100, BLOCK_SIZE=32)
    assert torch.equal(x, 2 * torch.arange(100.0))


@pytest.mark.parametrize("rows, cols", [(3, 7), (8, 100), (1, 1), (5, 128), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_softmax(rows, cols, dtype):
    x = (4 * torch.randn(rows, cols)).to(dtype)
    out = torch.full_like(x, float("nan"))
    kernels.softmax[(4,)](out, x, x.stride(0), out.stride(0), rows, cols, BLOCK_SIZE=128, num_stages=2)
    within(out, bounds.softmax(x))


@pytest.fixture
def threads():
    """threads(n): launches use n threads from now on; in the end as many as at the start."""
    yield _native.set_num_threads
    _native.set_num_threads(0)


def test_softmax_has_the_same_bits_for_any_tile_and_number_of_threads(threads):
    x = 4 * torch.randn(400, 1000)
    results = []
    for count in (1, 2):
        threads(count)
        for block in (1024, 2048):
            results.append(torch.full_like(x, float("nan")))
            # On a GPU the order of a sum hangs on the number of warps.
            kernels.softmax[(400,)](results[-1], x, 1000, 1000, 400, 1000, BLOCK_SIZE=block, num_stages=2, num_warps=4)
    assert not results[0].isnan().any() and all(torch.equal(results[0], other) for other in results)


@pytest.mark.parametrize("rows, cols", [(3, 7), (4, 300), (1, 64)])
def test_layer_norm(rows, cols):
    x, w, b = torch.randn(rows, cols), torch.randn(cols), torch.randn(cols)
    y, mean, rstd = torch.full_like(x, float("nan")), torch.empty(rows), torch.empty(rows)
    kernels.layer_norm[(rows,)](x, y, w, b, mean, rstd, x.stride(0), cols, 1e-5, BLOCK_SIZE=128)
    expected = torch.nn.functional.layer_norm(x.double(), (cols,), w.double(), b.double(), 1e-5)
    torch.testing.assert_close(y, expected.float(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(mean, x.double().mean(1).float(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n, bins", [(1000, 7), (1, 1), (129, 64)])
def test_histogram_by_atomics(n, bins):
    x = torch.randint(0, 1000, (n,), dtype=torch.int32)
    counts = torch.zeros(bins, dtype=torch.int32)
    kernels.histogram[(tileon.cdiv(n, 64),)](x, counts, n, bins, BLOCK=64)
    assert torch.equal(counts, torch.bincount((x % bins).long(), minlength=bins).int())


def test_control_flow():
    x = torch.tensor([1, 9, 10, 27, 50, 51, 3, 200, 13], dtype=torch.int32)
    n = len(x)
    steps, kinds = torch.full((n + 2,), 99, dtype=torch.int32), torch.full((n + 2,), 99, dtype=torch.int32)
    kernels.control[(n + 2,)](x, steps, kinds, n, 40)
    expected = []
    for value in x.tolist():
        if 10 <= value <= 50:
            count = 0
            while value != 1 and count < 40:
                value = value // 2 if value % 2 == 0 else 3 * value + 1
                count += 1
            expected.append(count)
        else:
            total = 0
            for i in range(value):
                if i % 3 == 0:
                    continue
                if total > 100:
                    break
                total += i
            expected.append(-total)
    assert steps.tolist() == expected + [99, 99]
    assert kinds.tolist() == [-1, -1, 0, 0, 0, 1, -1, 1, 0] + [99, 99]
