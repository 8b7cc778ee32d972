"""Blocks of slices of unequal sizes: what lies behind a slice is read as 0 and stays as it is."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl
from tilery.tileon.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged


@tileon.jit
def slices(
    source, target, sums, copy_ptr, start, size, row, DIM: tl.constexpr, H: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    at = [row, 0] if H == 0 else [1, row, 0]
    block = load_ragged(source, start, size, at, ragged_dim=DIM)
    flat = tl.reshape(block, [M, N])
    tl.store(copy_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], flat)
    store_ragged(target, start, size, at, block + 1, ragged_dim=DIM)
    atomic_add_ragged(sums, start, size, at, block, ragged_dim=DIM)


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("heads", [0, 3])
@pytest.mark.parametrize(
    "start, size, row", [(10, 20, 0), (10, 20, 16), (90, 10, 0), (0, 100, 96), (0, 0, 0), (100, 0, 0), (5, 3, 64)]
)
def test_slices(device, dtype, heads, start, size, row):
    shape, block = ((100, 32), [16, 32]) if heads == 0 else ((heads, 100, 32), [1, 16, 32])
    dim = len(shape) - 2
    x, target, sums = torch.randn(shape).to(dtype), torch.zeros(shape, dtype=dtype), torch.ones(shape, dtype=dtype)
    copy = torch.full((16, 32), float("nan"), dtype=dtype)
    descriptors = [create_ragged_descriptor(t, block, ragged_dim=dim - len(shape)) for t in (x, target, sums)]
    slices[(1,)](*descriptors, copy, start, size, row, dim, heads, 16, 32)
    inside = slice(start + row, max(start + size, start + row))
    rows = (x if heads == 0 else x[1])[inside][:16]
    assert torch.equal(copy[: len(rows)], rows) and not copy[len(rows) :].any()
    stored, added = torch.zeros(shape, dtype=dtype), torch.ones(shape, dtype=dtype)
    (stored if heads == 0 else stored[1])[inside][:16] = rows + 1
    (added if heads == 0 else added[1])[inside][:16] += rows
    assert torch.equal(target, stored) and torch.equal(sums, added)


@tileon.jit
def experts(x, w, y, starts_ptr, sizes_ptr, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    """Each expert's rows times its weights."""
    expert, part, column = tl.program_id(0), tl.program_id(1), tl.program_id(2) * N
    start, size = tl.load(starts_ptr + expert), tl.load(sizes_ptr + expert)
    if part * M < size:
        total = tl.zeros((M, N), tl.float32)
        for k in range(0, K, STEP):
            a = load_ragged(x, start, size, [part * M, k])
            b = tl.reshape(w.load([expert, k, column]), [STEP, N])
            total = tl.dot(a, b, total)
        store_ragged(y, start, size, [part * M, column], total.to(tl.float16))


def test_experts(device):
    sizes = [40, 0, 1, 100, 64]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    x, w = torch.randn(sum(sizes), 96).half(), torch.randn(len(sizes), 96, 128).half()
    y = torch.zeros(sum(sizes), 128, dtype=torch.float16)
    weights = tileon.tools.tensor_descriptor.TensorDescriptor.from_tensor(w, [1, 32, 64])
    table = [torch.tensor(t, dtype=torch.int32) for t in (starts, sizes)]
    experts[(len(sizes), 2, 2)](
        create_ragged_descriptor(x, [64, 32]), weights, create_ragged_descriptor(y, [64, 64]), *table, 96, 64, 64, 32
    )
    parts = [(x[s : s + n].double(), e.double()) for s, n, e in zip(starts, sizes, w)]
    exact = torch.cat([a @ b for a, b in parts])
    # 96 sums in f32 (tensor cores cut what others round), of which the last is rounded to f16.
    off = 96 * 2**-23 * torch.cat([a.abs() @ b.abs() for a, b in parts]) + 2**-11 * exact.abs() + 2**-25
    assert ((y.double() - exact).abs() <= off).all()


def test_what_is_refused():
    x = torch.zeros(8, 32)
    with pytest.raises(AssertionError, match="the last dimension cannot be ragged: ragged_dim is -1 of 2"):
        create_ragged_descriptor(x, [4, 32], ragged_dim=-1)
    with pytest.raises(AssertionError, match="block_shape has 1 size, the tensor 2 dimensions"):
        create_ragged_descriptor(x, [32])
    with pytest.raises(AssertionError, match="at most 3 dimensions, the tensor has 4"):
        create_ragged_descriptor(torch.zeros(1, 2, 4, 32), [1, 1, 4, 32])
