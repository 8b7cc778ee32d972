"""What a call may give: arguments with grids of their own, none for what is not used, symbols of any sign, tensors left over."""

import warnings

import pytest
import torch

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor

pytestmark = pytest.mark.filterwarnings("ignore:.*arranged for different grids")
PAD = Symbol("PAD", constexpr=True)


def copy(x, y):
    y = x  # noqa: F841


def summed(x, y, z):
    z = x + y  # noqa: F841


def without_second(x, y, z):
    z = 2 * x  # noqa: F841


def vectors(*tensors):
    return tuple(t.tile((4,)) for t in tensors)


def tiles(*tensors):
    return tuple(t.tile((2, 4)) for t in tensors)


add = ninetoothed.make(vectors, summed, (Tensor(1), Tensor(1, other=5), Tensor(1)))
add_tiles = ninetoothed.make(tiles, summed, (Tensor(2), Tensor(2, other=-1), Tensor(2)))
double = ninetoothed.make(vectors, without_second, (Tensor(1), Tensor(1), Tensor(1)))


@pytest.mark.parametrize("counts", [(32, 13, 20), (10, 40, 40), (9, 0, 9), (0, 8, 8), (8, 8, 0), (7, 30, 3)])
def test_grids_of_vectors_differ(counts, device):
    x, y, z = (torch.randn(2 * n, device=device)[::2] for n in counts)
    before = z.clone()
    add(x, y, z)
    programs = -(-counts[0] // 4)
    for i in range(counts[2]):
        value = before[i]
        if i // 4 < programs:
            value = (x[i] if i < counts[0] else 0) + (y[i] if i < counts[1] else 5)
        assert z[i] == value, i


@pytest.mark.parametrize(
    "shapes",
    [((6, 8), (3, 20), (6, 8)), ((6, 8), (6, 8), (20, 3)), ((4, 9), (0, 9), (9, 4)), ((5, 7), (2, 4), (9, 9))],
)
def test_each_argument_is_unravelled_by_its_own_grid(shapes, device):
    x, y, z = (torch.randn(*reversed(s), device=device).T for s in shapes)
    expected = z.clone().cpu()

    def tile(t, program, i, j, other):
        """An element of the program's tile, and where it lies."""
        across = -(-t.shape[1] // 4)
        row, column = (program // across * 2 + i, program % across * 4 + j) if across else (0, 0)
        exists = row < t.shape[0] and column < t.shape[1]
        return (float(t[row, column]) if exists else other), (row, column) if exists else None

    for program in range(-(-shapes[0][0] // 2) * -(-shapes[0][1] // 4)):
        for i in range(2):
            for j in range(4):
                value = tile(x, program, i, j, 0)[0] + tile(y, program, i, j, -1)[0]
                place = tile(z, program, i, j, 0)[1]
                if place:
                    expected[place] = value
    add_tiles(x, y, z)
    assert torch.allclose(z.cpu(), expected)


def test_ranks_of_grids_differ(device):
    kernel = ninetoothed.make(lambda x, y: (x.tile((1, 4)), y.tile((1, 4)).flatten()), copy, (Tensor(2), Tensor(2)))
    x, y = torch.randn(2, 8, device=device), torch.zeros(1, 12, device=device)
    kernel(x, y)
    assert torch.equal(y.reshape(-1), x.reshape(-1)[:12])


def test_sizes_that_the_arrangement_knows_bound_nothing_of_another_grid(device):
    kernel = ninetoothed.make(vectors, copy, (Tensor(1), Tensor(shape=(8,))))
    x, y = torch.randn(64, device=device), torch.zeros(64, device=device)
    kernel(x, y[:8])
    assert torch.equal(y[:8], x[:8]) and not y[8:].any()


def test_debug_finds_grids_that_differ():
    with pytest.raises(Error, match="arranged for different grids"):
        add(torch.ones(8), torch.ones(12), torch.ones(8), debug=True)


def test_an_unused_argument_may_be_missing(device):
    x = torch.randn(10, device=device)
    for nothing in (None, torch.empty(10, device="meta")):
        z = torch.zeros(10, device=device)
        double(x, nothing, z)
        assert torch.equal(z, 2 * x)

        with pytest.raises(Error, match="`y` was given no tensor with elements .* and is used"):
            add(x, nothing, x)


@pytest.mark.parametrize("value", [2, 0, -3])
def test_constexpr_symbols_of_any_sign(value, device):
    kernel = ninetoothed.make(lambda x, y: (x.pad(((PAD, 0),)).tile((4,)), y.tile((4,))), copy, (Tensor(1), Tensor(1)))
    x, y = torch.arange(1.0, 9, device=device), torch.zeros(8 + value, device=device)
    kernel(x, y, PAD=value)
    expected = torch.zeros(8 + value)
    expected[max(value, 0) :] = x[max(-value, 0) :]
    assert torch.equal(y, expected)


def test_tensors_left_over_are_ignored(device):
    kernel = ninetoothed.make(vectors, copy, (Tensor(1), Tensor(1), Tensor(1)))
    x, y = torch.randn(9, device=device), torch.zeros(9, device=device)
    kernel(x, y)
    assert torch.equal(x, y)


def either(x, y, with_y, z):
    if with_y:
        z = x + y
    else:
        z = x  # noqa: F841


def test_arguments_that_are_missing_by_turns(device):
    def arrange(x, y, with_y, z):
        return *vectors(x, y), with_y, *vectors(z)

    kernel = ninetoothed.make(arrange, either, (Tensor(1), Tensor(1), Tensor(0, constexpr=True), Tensor(1)))
    x, y = torch.randn(10, device=device), torch.randn(10, device=device)
    for given in (torch.empty(10, device="meta"), y, torch.empty(7, device="meta"), None, y):
        z, is_given = torch.zeros(10, device=device), given is y
        kernel(x, given, is_given, z)
        assert torch.equal(z, x + y if is_given else x)


def test_grids_that_differ_by_turns(device):
    kernel = ninetoothed.make(vectors, copy, (Tensor(1), Tensor(1)))
    for _ in range(2):
        for n, m in ((8, 8), (8, 20), (20, 8), (20, 20)):
            x, y = torch.randn(n, device=device), torch.zeros(m, device=device)
            kernel(x, y)
            assert torch.equal(y[:n], x[:m]) and not y[n:].any()
    with pytest.raises(Error, match="arranged for different grids"):
        kernel(torch.ones(8, device="cpu"), torch.ones(20, device="cpu"), debug=True)


def test_grids_that_differ_are_told_once():
    kernel = ninetoothed.make(vectors, copy, (Tensor(1), Tensor(1)))
    x, y = torch.ones(8), torch.zeros(20)
    with pytest.warns(RuntimeWarning, match="`x` and `y` .* different grids: 2 and 5 programs.*left as they are") as told:
        kernel(x, y)
        kernel(x, y)
    assert [each.filename for each in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(x, y[:8])
