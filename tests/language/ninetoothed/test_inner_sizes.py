"""Factors of a product of different inner sizes: a launch goes on and says so, functions compiled ahead of time refuse."""

import re
import warnings

import numpy as np
import pytest

from tilery import ninetoothed
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl


def tiles(x, y, z, depth=8):
    z = z.tile((4, 4))
    x = x.tile((4, depth)).tile((1, -1)).expand((-1, z.shape[1]))
    y = y.tile((depth, 4)).tile((-1, 1)).expand((z.shape[0], -1))
    x.dtype, y.dtype = x.dtype.squeeze(0), y.dtype.squeeze(1)
    return x, y, z


def turned(x, y, z):
    return tiles(x, y.permute((1, 0)), z)


def product(x, y, z):
    total = ntl.zeros(z.shape, dtype=ntl.float32)
    for k in range(x.shape[0]):
        total += ntl.dot(ntl.cast(x[k], ntl.float32), y[k])
    z = total  # noqa: F841


def one_tile(x, y, z):
    return x.tile((4, 16)).squeeze(1), y.tile((16, 4)).squeeze(0).expand((3,)), z.tile((4, 4)).squeeze(1)


def of_one_tile(x, y, z):
    z = ntl.dot(x, y)  # noqa: F841


TENSORS = Tensor(2), Tensor(2), Tensor(2)
multiply, multiply_turned = (ninetoothed.make(arrange, product, TENSORS) for arrange in (tiles, turned))


def factors(inner, other, dtype=np.float32):
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 5, (12, inner)).astype(dtype), rng.integers(-4, 5, (other, 8)).astype(np.float32)
    both = min(inner, other)
    return x, y, np.full((12, 8), -1, np.float32), x[:, :both].astype(np.float32) @ y[:both]


@pytest.mark.parametrize("inner, other", [(50, 70), (70, 50), (16, 17), (8, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_launch_warns_once(inner, other, dtype, is_turned):
    kernel = ninetoothed.make(turned if is_turned else tiles, product, TENSORS)
    x, y, z, expected = factors(inner, other, dtype)
    y = np.ascontiguousarray(y.T) if is_turned else y
    says = f"`x` and `y` are multiplied, and have different inner sizes: {inner} and {other} elements; what the larger one has"
    with pytest.warns(RuntimeWarning, match=says) as told:
        kernel(x, y, z)
    assert told[0].filename == __file__
    np.testing.assert_array_equal(z, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z[:] = -1
        kernel(x, y, z)
    np.testing.assert_array_equal(z, expected)


@pytest.mark.parametrize("inner", [1, 5, 8, 50])
def test_equal_sizes_say_nothing(inner):
    x, y, z, expected = factors(inner, inner)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        multiply(x, y, z)
        multiply_turned(x, np.ascontiguousarray(y.T), z)
    np.testing.assert_array_equal(z, expected)


def test_what_says_what_lies_outside_is_meant():
    kernel = ninetoothed.make(tiles, product, (Tensor(2, other=0), Tensor(2), Tensor(2)))
    x, y, z, expected = factors(20, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(x, y, z)
    np.testing.assert_array_equal(z, expected)


@pytest.mark.parametrize("inner, other, differ", [(16, 16, False), (16, 12, True), (5, 9, True)])
def test_factors_of_one_tile(inner, other, differ):
    kernel = ninetoothed.make(one_tile, of_one_tile, TENSORS)
    x, y, z, expected = factors(inner, other)
    y, z, expected = y[:, :4].copy(), z[:, :4].copy(), expected[:, :4]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kernel(x, y, z)
    assert [bool(re.search("different inner sizes", str(w.message))) for w in told] == [True] * differ
    np.testing.assert_array_equal(z, expected)


def test_ahead_of_time(tmp_path):
    tensors = [Tensor(2, dtype=ninetoothed.float32) for _ in range(3)]
    kernel = ninetoothed.make(tiles, product, tensors, caller="cpu", kernel_name="product", output_dir=tmp_path)
    x, y, z, expected = factors(20, 20)
    kernel(x, y, z)
    np.testing.assert_array_equal(z, expected)
    x, y, z, _ = factors(20, 21)
    with pytest.raises(ValueError, match="different inner sizes: 20 and 21 elements"):
        kernel(x, y, z)
    assert (z == -1).all()
