"""kernel(..., debug=True): sizes that do not fit the arrangement, outputs that nobody writes, memory that two arguments share."""

import warnings

import pytest
import torch

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl

M, N, K = 8, 4, 16


def tiles_of_a_product(x, y, z):
    z = z.tile((M, N))
    x = x.tile((M, K)).tile((1, -1)).expand((-1, z.shape[1]))
    y = y.tile((K, N)).tile((-1, 1)).expand((z.shape[0], -1))
    x.dtype, y.dtype = x.dtype.squeeze(0), y.dtype.squeeze(1)
    return x, y, z


def product(x, y, z):
    total = ntl.zeros(z.shape, dtype=ntl.float32)
    for k in range(x.shape[0]):
        total += ntl.dot(x[k], y[k])
    z = total  # noqa: F841


def tiles_of_a_transposed_product(x, y, z):
    return tiles_of_a_product(x, y.permute((1, 0)), z)


def doubled(x, y):
    y = 2 * x  # noqa: F841


def forgetful(x, y):
    y + x


def halved(x, y, n):
    if n > 2:
        y = x / 2  # noqa: F841


def vectors(*tensors):
    return tuple(t.tile((4,)) for t in tensors)


multiply = ninetoothed.make(tiles_of_a_product, product, (Tensor(2), Tensor(2), Tensor(2)))
multiply_transposed = ninetoothed.make(tiles_of_a_transposed_product, product, (Tensor(2), Tensor(2), Tensor(2)))
double = ninetoothed.make(vectors, doubled, (Tensor(1), Tensor(1)))


@pytest.mark.parametrize("inner, other", [(30, 31), (32, 64), (64, 32), (5, 16)])
@pytest.mark.parametrize("transposed", [False, True])
def test_inner_sizes_of_a_product(inner, other, transposed):
    x, y, z = torch.randn(12, inner), torch.randn(other, 6), torch.zeros(12, 6)
    kernel = multiply_transposed if transposed else multiply
    with pytest.raises(ValueError, match=f"different inner sizes: {inner} in 'x', {other} in 'y'") as e:
        kernel(x, y.T.contiguous() if transposed else y, z, debug=True)
    assert isinstance(e.value, Error) and e.value.chain[0][1] == product.__code__.co_firstlineno + 3


@pytest.mark.parametrize("shape", [(12, 32, 6), (12, 30, 6), (3, 5, 2), (16, 64, 8)])
def test_right_products_pass(shape):
    m, k, n = shape
    x, y, z = torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)
    multiply(x, y, z, debug=True)
    torch.testing.assert_close(z, x @ y)
    multiply_transposed(x, y.T.contiguous(), z, debug=True)
    torch.testing.assert_close(z, x @ y)


@pytest.mark.parametrize("x_size, y_size", [(18, 20), (20, 17)])
def test_sizes_that_are_cut_into_the_same_tiles(x_size, y_size):
    x, y = torch.randn(x_size), torch.zeros(y_size)
    message = f"`x` and `y` are cut into the same tiles, and have {x_size} and {y_size} elements there"
    with pytest.raises(ValueError, match=message):
        double(x, y, debug=True)
    double(x, y)
    n = min(x_size, y_size)
    assert torch.equal(y[:n], 2 * x[:n])


def test_outputs_that_are_too_small_for_a_product():
    with pytest.raises(ValueError, match="`x` and `z` are cut into the same tiles, and have 12 and 11 elements there"):
        multiply(torch.randn(12, 16), torch.randn(16, 6), torch.zeros(11, 6), debug=True)
    with pytest.raises(ValueError, match="`z` and `y` are cut into the same tiles, and have 5 and 6 elements there"):
        multiply(torch.randn(12, 16), torch.randn(16, 6), torch.zeros(12, 5), debug=True)


def test_what_lies_outside_may_be_said():
    padded = ninetoothed.make(vectors, doubled, (Tensor(1, other=3), Tensor(1)))
    x, y = torch.ones(18), torch.zeros(20)
    padded(x, y, debug=True)
    assert y.tolist() == [2.0] * 18 + [6.0] * 2


def test_windows_are_not_tiles():
    def pooling(x, y):
        y = ntl.max(x)  # noqa: F841

    kernel = ninetoothed.make(lambda x, y: (x.tile((2,)), y.tile((1,))), pooling, (Tensor(1), Tensor(1)))
    x, y = torch.rand(16), torch.empty(8)
    kernel(x, y, debug=True)
    assert torch.equal(y, x.view(8, 2).amax(1))


def adder(x, y, z):
    z = x + y  # noqa: F841


def calls_a_helper(x, y):
    adder(x, x, y)


def keeps_a_helpers_result(x, y):
    z = adder(x, x, y)  # noqa: F841


def indexes(x, y):
    y[0] = x[0]


def accumulates(x, y):
    y += x


def counts(x, y):
    old = ntl.atomic_add(y.data_ptr(), 1)  # noqa: F841


def does_nothing(x, y):
    pass


def misspells(x, y):
    z = ntl.exp(x)  # noqa: F841


def loops(x, y):
    total = ntl.zeros((4,), dtype=ntl.float32)
    for i in range(4):
        total += x * i + max(1, 2)


def test_an_application_that_assigns_nothing():
    for wrong in (forgetful, misspells, loops):
        message = rf"test_debug.py:\d+:1: `{wrong.__name__}` assigns none of its parameters: a launch changes nothing"
        with pytest.raises(TypeError, match=message):
            ninetoothed.make(vectors, wrong, (Tensor(1), Tensor(1)))
    for right in (calls_a_helper, keeps_a_helpers_result, accumulates, counts, does_nothing, indexes, halved):
        tensors = (*(Tensor(1), Tensor(1)), *[Tensor(0)] * (right is halved))
        ninetoothed.make(lambda x, y, *n: (*vectors(x, y), *n), right, tensors)


def test_an_application_that_assigns_nothing_as_far_as_it_is_run():
    def never(x, y):
        if x.shape[0] > 1000:
            y = x  # noqa: F841

    kernel = ninetoothed.make(vectors, never, (Tensor(1), Tensor(1)))
    x = torch.ones(8)
    kernel(x, x)
    with pytest.raises(TypeError, match="`never` assigns none of its parameters: a launch changes nothing"):
        kernel(x, x, debug=True)


def test_an_output_that_no_program_writes():
    kernel = ninetoothed.make(lambda x, y, n: (x.tile((4,)), y.tile((4,)), n), halved, (Tensor(1), Tensor(1), Tensor(0)))
    x = torch.ones(16)
    kernel(x, torch.zeros(16), 2, debug=True)
    y = torch.empty(16)
    with pytest.warns(RuntimeWarning, match="kernel `halved` has written no element of argument `y`") as found:
        kernel(x, y, 2, debug=True)
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(x, y, 3, debug=True)
        kernel(x, y, 2, debug=True)
    assert (y == 0.5).all()


def test_memory_that_nobody_has_written():
    double(torch.ones(8), torch.ones(8), debug=True)  # from here on
    with pytest.raises(Error, match="uses element 8 of 'x', which nothing has written"):
        x = torch.empty(16)
        x[:8] = 1
        double(x, torch.zeros(16), debug=True)


def test_arguments_that_share_memory():
    x = torch.arange(17.0)
    double(x, x, debug=True)
    assert torch.equal(x, 2 * torch.arange(17.0))
    with pytest.raises(Error, match=r"reads element 4 of 'x' \(in the same memory: element 3 of 'y'\), which program 0 writes"):
        double(x[:16], x[1:], debug=True)
    with pytest.raises(Error, match="writes element 0 of 'y', which program 0 also writes"):
        double(torch.arange(16.0), torch.zeros(1).expand(16), debug=True)
