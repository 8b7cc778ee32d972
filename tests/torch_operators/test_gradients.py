import pytest
import torch
from torch.library import opcheck

import tilery.torch


@pytest.fixture
def x():
    return torch.randn(8, 12, generator=torch.Generator().manual_seed(1), requires_grad=True)


def gradient(function, x):
    (found,) = torch.autograd.grad(function(x), x)
    return found


def test_gradients_of_torch(kernels, x):
    """The gradient of a sum is one number for all, with strides of 0: kernels get it in memory."""
    for own, torchs in [
        (lambda x: kernels.silu(x).sum(), lambda x: torch.nn.functional.silu(x).sum()),
        (lambda x: (kernels.silu(x) ** 2).sum(), lambda x: (torch.nn.functional.silu(x) ** 2).sum()),
        (lambda x: kernels.scaled(x, 3.0).sum(), lambda x: 3 * x.sum()),
        (lambda x: kernels.sums(x)[0].sum(), lambda x: x.sum()),
        (lambda x: (kernels.sums(x)[1] ** 2).sum(), lambda x: 2 * (x.sum(1) ** 2).sum()),
    ]:
        torch.testing.assert_close(gradient(own, x), gradient(torchs, x))


def test_checks_of_torch(kernels, x):
    for operator, arguments in [(kernels.silu, ()), (kernels.scaled, (2.0,)), (kernels.sums, ())]:
        assert set(opcheck(operator, (x, *arguments)).values()) == {"SUCCESS"}


def test_only_what_is_named_is_kept(kernels, x):
    """A backward that asks for the gradient alone keeps no tensor; one that asks for the result keeps that."""
    assert kernels.scaled(x, 2.0).grad_fn.saved_tensors == ()

    @tilery.torch.custom_op("tested::exponential", mutates_args=())
    def exponential(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x)

    @tilery.torch.backward(exponential)
    def exponential_backward(grad: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        return grad * output

    y = exponential(x)
    assert [saved.data_ptr() for saved in y.grad_fn.saved_tensors] == [y.data_ptr()]
    torch.testing.assert_close(gradient(lambda x: exponential(x).sum(), x), x.exp())


def test_gradients_of_some_arguments(x):
    @tilery.torch.custom_op("tested::weighted", mutates_args=())
    def weighted(index: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        y = x[index] * weight
        return y if bias is None else y + bias

    @tilery.torch.backward(weighted, wrt=["weight", "x"])
    def weighted_backward(
        grad: torch.Tensor, weight: torch.Tensor, x: torch.Tensor, index: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return grad * x[index], torch.zeros_like(x).index_add_(0, index, grad * weight)

    index, weight = torch.tensor([2, 0]), torch.randn(2, 12, requires_grad=True)
    found = torch.autograd.grad(weighted(index, x, weight).sum(), (x, weight))
    wanted = torch.autograd.grad((x[index] * weight).sum(), (x, weight))
    torch.testing.assert_close(found, wanted)


def test_a_backward_has_a_backward(kernels, x):
    @tilery.torch.custom_op("tested::cube", mutates_args=())
    def cube(x: torch.Tensor) -> torch.Tensor:
        return x**3

    @tilery.torch.backward(cube)
    def cube_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return 3 * grad * x**2

    @tilery.torch.backward(cube_backward)
    def cube_backward_backward(
        grad: torch.Tensor, x: torch.Tensor, output: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        raise AssertionError("the parameter `grad` means the gradient of the result here")

    y = x.detach().double()[:2, :2].contiguous().requires_grad_()
    (first,) = torch.autograd.grad(cube(y).sum(), y, create_graph=True)
    torch.testing.assert_close(first, 3 * y**2)
    with pytest.raises(AssertionError, match="the gradient of the result"):
        torch.autograd.grad(first.sum(), y)


def test_gradients_without_a_break(kernels, x):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    function = lambda x: kernels.silu(kernels.scaled(x, 2.0)).sum()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(gradient(compiled, x), gradient(function, x))
    assert not torch._dynamo.utils.counters["graph_break"]


def test_errors(kernels, x):
    with pytest.raises(TypeError, match="`f` takes `gradd`, which is nothing of tested::double\n  hint: did you mean grad?"):

        @tilery.torch.backward(kernels.double)
        def f(gradd: torch.Tensor) -> torch.Tensor:
            return gradd

    with pytest.raises(TypeError, match="`wrt` names `scale`, which is nothing of tested::scaled\n  hint: known: x"):
        tilery.torch.backward(kernels.scaled, wrt=["scale"])
    with pytest.raises(TypeError, match="`wrt` is a sequence of names, got 'x'"):
        tilery.torch.backward(kernels.scaled, wrt="x")
    with pytest.raises(TypeError, match="gradients are an operator's, got"):
        tilery.torch.backward(lambda x: x)

    @tilery.torch.custom_op("tested::joined", mutates_args=())
    def joined(parts: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat(parts)

    with pytest.raises(TypeError, match="`parts` of tested::joined is a list of tensors"):
        tilery.torch.backward(joined)

    @tilery.torch.custom_op("tested::pair", mutates_args=())
    def pair(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    @tilery.torch.backward(pair)
    def pair_backward(grad: torch.Tensor) -> torch.Tensor:
        return grad.clone()

    with pytest.raises(ValueError, match="tested::pair_backward returns 1 tensor, not the gradients of x, y"):
        pair(x, x).sum().backward()


def test_arguments_that_need_no_gradient(kernels, x):
    """None, and tensors of integers: what is returned for them is not looked at."""

    @tilery.torch.custom_op("tested::weighted", mutates_args=())
    def weighted(x: torch.Tensor, w: torch.Tensor | None, i: torch.Tensor) -> torch.Tensor:
        return kernels.double(x) if w is None else kernels.double(x) * w

    @tilery.torch.backward(weighted)
    def weighted_backward(
        grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return 2 * grad if w is None else 2 * grad * w, 2 * grad * x, torch.zeros(())

    i = torch.arange(3)
    for w in (None, torch.full_like(x.detach(), 3.0, requires_grad=True)):
        own = x.detach().clone().requires_grad_()
        weighted(own, w, i).sum().backward()
        torch.testing.assert_close(own.grad, torch.full_like(own.detach(), 2.0 if w is None else 6.0))
    torch.testing.assert_close(w.grad, 2 * x.detach())
