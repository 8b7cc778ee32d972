"""Indices into tiles: numbers, run-time scalars, ranges and tiles of indices, read and written."""

import numpy as np
import pytest
import torch

from tilery import ninetoothed
from tilery.ninetoothed import Tensor, block_size
from tilery.ninetoothed import language as ntl


def vectors(*tensors):
    return tuple(t.tile((4,)) if t.ndim else t for t in tensors)


def matrices(*tensors):
    return tuple(t.tile((2, 4)) if t.ndim else t for t in tensors)


def run(application, arrangement, *arguments, others=None):
    tensors = tuple(Tensor(a.ndim if torch.is_tensor(a) else 0, other=(others or {}).get(i)) for i, a in enumerate(arguments))
    ninetoothed.make(arrangement, application, tensors)(*arguments)


def padded(x, *tile):
    """The tiles of a tensor, NaN where there is nothing: (grid..., tile...)."""
    grown = torch.full([-(-s // t) * t for s, t in zip(x.shape, tile)], float("nan"))
    grown[tuple(slice(s) for s in x.shape)] = x
    for d, t in enumerate(tile):
        grown = grown.unfold(d, t, t)
    return grown


def test_numbers_read_and_write_single_lanes(device):
    def application(x, y):
        y[0] = x[1] + x[3]
        y[2] = 7

    run(application, vectors, torch.empty(0, device=device), torch.empty(0, device=device))
    for n in (1, 3, 8, 10):
        x, y = torch.randn(2 * n, device=device)[::2], torch.full((n,), -1.0, device=device)
        run(application, vectors, x, y)
        expected = torch.full((-(-n // 4), 4), -1.0)
        tiles = padded(x, 4).nan_to_num(0)
        expected[:, 0] = tiles[:, 1] + tiles[:, 3]
        expected[:, 2] = 7
        assert torch.equal(y, expected.reshape(-1)[:n])


def test_a_row_and_an_element_of_a_matrix_tile(device):
    def application(x, y):
        y[1] = x[0] * 2
        y[0, 3] = ntl.sum(x[1])

    x, y = torch.randn(7, 5, device=device).T, torch.zeros(5, 7, device=device)
    run(application, matrices, x, y)
    tiles, expected = padded(x, 2, 4).nan_to_num(0), torch.zeros(3, 2, 2, 4)
    expected[:, :, 1] = tiles[:, :, 0] * 2
    expected[:, :, 0, 3] = tiles[:, :, 1].sum(-1)
    assert torch.allclose(y, expected.permute(0, 2, 1, 3).reshape(6, 8)[:5, :7])


def test_indices_behind_the_middle_levels_and_surplus_ones(device):
    def arrangement(*tensors):
        results = []
        for t in tensors:
            t = t.tile((1, 4)).tile((1, -1))
            t.dtype = t.dtype.squeeze(0)
            t.dtype.dtype = t.dtype.dtype.squeeze(0)
            results.append(t)
        return tuple(results)

    def application(x, y):
        for i in range(x.shape[0]):
            y[i, 0] = x[i, 3, 5, 9] + 1

    x, y = torch.randn(3, 10, device=device), torch.zeros(3, 10, device=device)
    run(application, arrangement, x, y)
    expected = torch.zeros(3, 10)
    expected[:, ::4] = padded(x, 1, 4)[:, :, 0, 3].nan_to_num(0) + 1
    assert torch.equal(y, expected)


def test_run_time_numbers_out_of_the_tile_name_nothing(device):
    def application(x, y, i):
        y[i] = x[i - 1]

    for i in range(-2, 7):
        x, y = torch.arange(1.0, 11, device=device), torch.full((10,), -1.0, device=device)
        run(application, vectors, x, y, i, others={0: 50})
        expected = torch.full((3, 4), -1.0)
        if 0 <= i < 4:
            expected[:, i] = padded(x, 4)[:, i - 1].nan_to_num(50) if i else 50
        assert torch.equal(y, expected.reshape(-1)[:10]), i


@pytest.mark.parametrize("start, end", [(0, 4), (1, 3), (2, 6)])
def test_ranges(start, end, device):
    def application(x, y):
        i = ntl.arange(start, end)
        y[i] = x[i] + ntl.arange(0, end - start)

    x, y = torch.randn(10, device=device), torch.zeros(10, device=device)
    run(application, vectors, x, y)
    expected = torch.zeros(3, 4)
    expected[:, start:end] = padded(x, 4)[:, start:end].nan_to_num(0) + torch.arange(0, end - start)[: 4 - start]
    assert torch.equal(y, expected.reshape(-1)[:10])


def test_a_range_of_the_first_dimension_keeps_the_others(device):
    def application(x, y):
        y[ntl.arange(1, 2)] = x[ntl.arange(0, 1)]

    x, y = torch.randn(3, 6, device=device), torch.zeros(3, 6, device=device)
    run(application, matrices, x, y)
    assert torch.equal(y, torch.stack([torch.zeros(6), x[0], torch.zeros(6)]))


def test_reversed_by_a_tile_of_indices(device):
    def application(x, y):
        y = x[3 - ntl.arange(0, 4)]

    x, y = torch.randn(10, device=device), torch.zeros(10, device=device)
    run(application, vectors, x, y, others={0: -9})
    assert torch.equal(y, padded(x, 4).nan_to_num(-9).flip(-1).reshape(-1)[:10])


def test_gathered_by_loaded_indices(device):
    def application(x, index, y):
        y = x[index]

    index = torch.tensor([0, 3, 9, -1, 2, 2, 1, 0, 1, 0], device=device)
    x, y = torch.randn(20, device=device)[::2], torch.zeros(10, device=device)
    run(application, vectors, x, index, y, others={0: 5})
    tiles, rows = padded(x, 4).nan_to_num(5), torch.nn.functional.pad(index, (0, 2)).reshape(3, 4)
    exists = (rows >= 0) & (rows < 4)
    expected = torch.where(exists, tiles.gather(1, rows.clamp(0, 3)), 5.0)
    assert torch.equal(y, expected.reshape(-1)[:10])


def test_scattered_by_loaded_indices_the_last_one_stays(device):
    def application(index, x, y):
        y[index] = x

    index = torch.tensor([0, 3, 0, -1, 2, 7, 1, 2, 1, 0], device=device)
    x, y = torch.randn(10, device=device), torch.full((10,), -1.0, device=device)
    run(application, vectors, index, x, y)
    expected = np.full(12, -1.0, np.float32)
    for at, (i, v) in enumerate(zip(index.tolist(), x.tolist())):
        if 0 <= i < 4:
            expected[at // 4 * 4 + i] = v
    expected[10:], expected[8] = 0, 0
    assert torch.equal(y[:8], torch.from_numpy(expected)[:8].to(y.device))
    assert y[8].item() in (0.0, x[9].item()) and y[9].item() == x[8].item()


def test_two_tiles_of_indices_pick_a_matrix(device):
    def application(x, y):
        i = ntl.arange(0, 2)
        j = ntl.arange(0, 4)
        y = x[1 - i[:, None], 3 - j[None, :]]

    x, y = torch.randn(5, 7, device=device), torch.zeros(5, 7, device=device)
    run(application, matrices, x, y)
    expected = padded(x, 2, 4).nan_to_num(0).flip(-1, -2).permute(0, 2, 1, 3).reshape(6, 8)
    assert torch.equal(y, expected[:5, :7])


def test_rows_picked_by_a_tile_of_indices(device):
    def application(x, y):
        y[1 - ntl.arange(0, 2)] = x[1 - ntl.arange(0, 2)[:, None]]

    x, y = torch.randn(4, 7, device=device), torch.zeros(4, 7, device=device)
    run(application, matrices, x, y)
    assert torch.equal(y, x)


def test_bounds_of_a_slice_hold_for_indexed_lanes(device):
    def application(x, y):
        y[1] = x[1]
        y[3 - ntl.arange(0, 2)] = 8

    def arrangement(x, y):
        return x[1:7].tile((4,)), y[1:7].tile((4,))

    x, y = torch.arange(10.0, device=device), torch.full((10,), -1.0, device=device)
    run(application, arrangement, x, y)
    assert y.tolist() == [-1, -1, 2, 8, 8, -1, 6, -1, -1, -1]


def test_flattened_sources(device):
    def application(x, y):
        y[0] = x[1]

    def arrangement(*tensors):
        return tuple(t.flatten().tile((block_size(4, 4),)) for t in tensors)

    x, y = torch.randn(3, 5, device=device), torch.zeros(3, 5, device=device)
    run(application, arrangement, x, y)
    expected = torch.zeros(15)
    expected[::4] = padded(x.reshape(-1), 4)[:, 1].nan_to_num(0)
    assert torch.equal(y.reshape(-1), expected)
