"""What `simulate_arrangement` says, against the same arrangement done with torch."""

import pytest
import torch

from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor, make
from tilery.ninetoothed.debugging import simulate_arrangement


def product(a, b):
    """b's columns for each program, whole columns of tiles."""
    a = a.tile((2, 2)).tile((1, -1)).expand((-1, b.shape[1]))
    a.dtype = a.dtype.squeeze(0)
    return a, b.tile((2, 1))


def test_levels_and_missing_elements():
    (a, b), (tiles, columns) = simulate_arrangement(product, (Tensor(shape=(3, 5)), Tensor(shape=(4, 2))))
    assert a.flatten().tolist() == list(range(15)) and b.flatten().tolist() == list(range(8))
    grown = torch.full((4, 6), -1, device=a.device)
    grown[:3, :5] = a
    rows = grown.reshape(2, 2, 3, 2).permute(0, 2, 1, 3)
    assert torch.equal(tiles, rows[:, None].expand(2, 2, 3, 2, 2).reshape(4, 3, 2, 2))
    assert torch.equal(columns, b.reshape(2, 2, 2).permute(0, 2, 1).reshape(4, 2, 1))


def test_scalars_single_results_and_empty_tensors():
    sources, targets = simulate_arrangement(lambda x, s, n: (x.tile((4,)), s), (t for t in (Tensor(shape=(0,)), Tensor(0), 3)))
    assert [list(s.shape) for s in sources] == [[0], []] and [list(t.shape) for t in targets] == [[0, 4], []]
    _, (target,) = simulate_arrangement(lambda x: x[::-2].tile((2,)), (Tensor(shape=(5,)),))
    assert target.tolist() == [[4, 2], [0, -1]]


def test_it_says_what_a_kernel_reads():
    def arrangement(x, y):
        return x.pad(((1, 1), (0, 2))).tile((2, 3)), y.tile((2, 3))

    def application(x, y):
        y = x  # noqa: F841

    x, y = torch.arange(35.0).reshape(5, 7), torch.full((8, 9), -2.0)
    make(arrangement, application, (Tensor(2, other=-1), Tensor(2)))(x, y)
    _, (target, _) = simulate_arrangement(arrangement, (Tensor(shape=(5, 7)), Tensor(shape=(8, 9))))
    assert torch.equal(y.reshape(4, 2, 3, 3).permute(0, 2, 1, 3).reshape(12, 2, 3), target.float().to(y.device))


@pytest.mark.parametrize("shape", [(None,), (Symbol("n"),)])
def test_unknown_sizes_are_named(shape):
    with pytest.raises(Error, match="size 0 of .* is not known"):
        simulate_arrangement(lambda x: x.tile((2,)), (Tensor(shape=shape),))
