"""`squeeze` leaves out dimensions of size 1 and `expand` repeats such: where only a launch knows the size, it checks."""

import pytest
import torch

import tilery
from tilery import ninetoothed
from tilery.ninetoothed import Symbol, Tensor

BLOCK = Symbol("BLOCK", constexpr=True)


def copied(x, y):
    y = x  # noqa: F841


def squeezed(x, y):
    x, y = x.tile((1, BLOCK)), y.tile((BLOCK,))
    x.dtype = x.dtype.squeeze(0)
    return x.squeeze(0), y


def expanded(x, y):
    return x.expand((y.shape[0],)).tile((BLOCK,)), y.tile((BLOCK,))


def squeezed_tiles(x, y):
    """Tiles of a size that the other argument has: one of them, where the sizes are equal."""
    x = x.tile((y.shape[0], BLOCK)).squeeze(0)
    return x, y.tile((-1, BLOCK)).squeeze(0)


def kernel(arrangement, *ranks):
    return ninetoothed.make(arrangement, copied, tuple(Tensor(rank) for rank in ranks))


def refused(launch, y):
    with pytest.raises(tilery.errors.Error) as caught:
        launch()
    assert isinstance(caught.value, ValueError)
    assert bool((y == -1).all())  # nothing was written
    return str(caught.value)


def test_squeezed_size_of_a_launch(device):
    x, y = torch.arange(20.0, device=device).reshape(2, 10), torch.full((10,), -1.0, device=device)
    copy = kernel(squeezed, 2, 1)
    text = refused(lambda: copy(x, y, BLOCK=4), y)
    assert "the arrangement of argument `x` leaves out dimension 0 (`squeeze`), which has size 2 in this call, not 1" in text
    copy(x[1:], y, BLOCK=4)
    assert torch.equal(y, x[1])


def test_expanded_size_of_a_launch(device):
    x, y = torch.arange(10.0, device=device), torch.full((10,), -1.0, device=device)
    fill = kernel(expanded, 1, 1)
    text = refused(lambda: fill(x, y, BLOCK=4), y)
    assert "the arrangement of argument `x` repeats dimension 0 (`expand`), which has size 10 in this call, not 1" in text
    fill(x[3:4], y, BLOCK=4)
    assert bool((y == 3).all())


def test_number_of_tiles_of_a_launch(device):
    copy = ninetoothed.make(squeezed_tiles, copied, (Tensor(2), Tensor(2, shape_options=({"constexpr": True}, {}))))
    x, y = torch.arange(40.0, device=device).reshape(4, 10), torch.full((2, 10), -1.0, device=device)
    assert "leaves out dimension 0 (`squeeze`), which has size 2" in refused(lambda: copy(x, y, BLOCK=4), y)
    copy(x[:2], y, BLOCK=4)
    assert torch.equal(y, x[:2])


def test_level_is_told(device):
    def arrangement(x, y):
        x, y = x.tile((-1, BLOCK)), y.tile((BLOCK,))
        x.dtype = x.dtype.squeeze(0)
        return x.squeeze(0), y

    copy = ninetoothed.make(arrangement, copied, (Tensor(2, shape_options=({"constexpr": True}, {})), Tensor(1)))
    x, y = torch.arange(20.0, device=device).reshape(2, 10), torch.full((10,), -1.0, device=device)
    assert "leaves out dimension 0 (`dtype.squeeze`), which has size 2" in refused(lambda: copy(x, y, BLOCK=4), y)
    copy(x[:1], y, BLOCK=4)
    assert torch.equal(y, x[0])


def test_ahead_of_time(tmp_path, device):
    tensors = Tensor(2, dtype="fp32"), Tensor(1, dtype="fp32")

    def arrangement(x, y):
        x = x.tile((1, 4))
        x.dtype = x.dtype.squeeze(0)
        return x.squeeze(0), y.tile((4,))

    copy = ninetoothed.make(arrangement, copied, tensors, caller=device, kernel_name="copy", output_dir=tmp_path)
    x, y = torch.arange(20.0).reshape(2, 10), torch.full((10,), -1.0)
    assert "leaves out dimension 0 (`squeeze`), which has size 2" in refused(lambda: copy(x, y), y)
    copy(x[1:], y)
    assert torch.equal(y, x[1])


def test_size_that_a_dimension_has_keeps_it(device):
    def arrangement(x, y):
        return x.expand((x.shape[0], y.shape[1])).tile((1, BLOCK)), y.tile((1, BLOCK))

    x, y = torch.arange(3.0, device=device).reshape(3, 1), torch.empty(3, 10, device=device)
    kernel(arrangement, 2, 2)(x, y, BLOCK=4)
    assert torch.equal(y, x.expand(3, 10))


def test_sizes_that_are_known():
    with pytest.raises(ValueError, match="`expand`: dimension 0 has size 3; only those of size 1 can be repeated"):
        Tensor(shape=(3, 4)).expand((5, -1))
    assert Tensor(shape=(3, 1)).expand((3, 5)).shape == (3, 5)
    x = Tensor(2)
    with pytest.raises(ValueError, match="`squeeze`: dimension 0 has size 3 with these numbers, it must be 1"):
        x.squeeze(0).eval({x: {"shape": (3, 4)}})
    assert x.squeeze(0).eval({x: {"shape": (1, 4)}}).tolist() == [0, 1, 2, 3]
