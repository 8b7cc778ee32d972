import pytest
import torch
from torch.func import vmap

import tilery.torch


@pytest.fixture
def x():
    return torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis(kernels, x, axis):
    torch.testing.assert_close(vmap(kernels.silu, in_dims=axis)(x), torch.nn.functional.silu(x.movedim(axis, 0)))
    torch.testing.assert_close(
        vmap(kernels.scaled, in_dims=(axis, None))(x, 3.0), vmap(lambda x: x * 3, in_dims=axis)(x)
    )


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_several_results(kernels, x, axis):
    total, twice = vmap(kernels.sums, in_dims=axis)(x)
    moved = x.movedim(axis, 0)
    torch.testing.assert_close(total, moved.sum(2))
    torch.testing.assert_close(twice, torch.stack([moved.sum(2), -moved.sum(2)], 2).reshape(moved.shape[0], -1, 1))


def test_batches_of_batches(kernels, x):
    torch.testing.assert_close(vmap(vmap(kernels.silu), in_dims=1)(x), torch.nn.functional.silu(x.movedim(1, 0)))
    nested = vmap(vmap(lambda x: kernels.plus_transposed(x, x)), in_dims=1)(x.view(3, 5, 2, 2))
    torch.testing.assert_close(nested, 2 * x.view(3, 5, 2, 2).movedim(1, 0).mT)


@pytest.mark.parametrize(
    "method, calls",
    [
        ("sequential", [((5, 4), (5, 4))] * 3),
        ("expand_dims", [((3, 5, 4), (1, 5, 4))]),
        ("broadcast_all", [((3, 5, 4), (3, 5, 4))]),
    ],
)
def test_methods(x, method, calls):
    seen = []

    @tilery.torch.custom_op(f"tested::weighted_{method}", mutates_args=(), vmap_method=method)
    def weighted(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        assert x.is_contiguous() and weight.is_contiguous()
        seen.append((tuple(x.shape), tuple(weight.shape)))
        return x * weight

    weight = torch.randn(4, 5).t()
    torch.testing.assert_close(vmap(weighted, in_dims=(2, None))(x.movedim(0, 2), weight), x * weight)
    assert seen == calls


def test_writing_operators(kernels, x):
    y = x.clone()
    vmap(kernels.silu_, in_dims=2)(y)  # no element of this batch lies in one piece
    torch.testing.assert_close(y, torch.nn.functional.silu(x))
    out = torch.zeros(3, 4, 5)
    into = lambda x, scale, y: (kernels.scale_into(x, scale, y), y)[1]
    vmap(into, in_dims=(0, None, 0))(x, 2.0, out.mT)
    torch.testing.assert_close(out.mT, 2 * x)
    with pytest.raises(ValueError, match="tested::scale_into writes to `y`, of which there is one for the whole batch"):
        vmap(into, in_dims=(0, None, None))(x, 2.0, torch.zeros(5, 4))


def test_a_promise_that_is_not_kept(x):
    @tilery.torch.custom_op("tested::whole", mutates_args=(), vmap_method="broadcast_all")
    def whole(x: torch.Tensor) -> torch.Tensor:
        return x.sum()

    with pytest.raises(ValueError, match=r"tested::whole gives the shape \(\) for a batch of 3 in front"):
        vmap(whole)(x)


def test_gradients_in_batches(kernels, x):
    """Autograd around a batch."""
    x.requires_grad_()
    vmap(kernels.silu)(x).sum().backward()
    found, x.grad = x.grad, None
    torch.nn.functional.silu(x).sum().backward()
    torch.testing.assert_close(found, x.grad)
