"""Microscaling formats on the host, against ml_dtypes."""

import ml_dtypes
import numpy
import pytest
import torch

from tilery.tileon.tools.mxfp import MXFP4Tensor, MXScaleTensor


def test_elements_agree_with_ml_dtypes():
    values = torch.cat([torch.linspace(-6, 6, 4801), torch.tensor([0.0, -0.0, 1e-9, -1e-9])])
    want = values.cpu().numpy().astype(ml_dtypes.float4_e2m1fn)
    coded = MXFP4Tensor(values)
    assert numpy.array_equal(coded.to(torch.float32).cpu().numpy(), want.astype(numpy.float32))
    assert numpy.array_equal(coded.data.cpu().numpy(), want.view(numpy.uint8) & 15)


def test_integers_are_numbers():
    assert MXFP4Tensor(torch.tensor([4, -3, 0])).to(torch.float32).tolist() == [4, -3, 0]
    assert MXScaleTensor(torch.tensor([4, 5])).to(torch.float32).tolist() == [4, 4]


def test_elements_saturate():
    values = torch.tensor([7.0, -100.0, float("inf"), float("-inf")])
    assert MXFP4Tensor(values).to(torch.float32).tolist() == [6, -6, 6, -6]


@pytest.mark.parametrize("shape, dim", [((8,), 0), ((7, 5), 1), ((7, 5), 0), ((2, 6, 4), 1)])
def test_packing(shape, dim):
    tensor = MXFP4Tensor(size=shape).random()
    packed = tensor.to_packed_tensor(dim)
    first, second = tensor.data.select(dim, 0), tensor.data.select(dim, 1)
    assert torch.equal(packed.select(dim, 0), first + 16 * second)
    assert torch.equal(tensor.unpack_packed_tensor(packed, dim, shape), tensor.data)
    with pytest.raises(AssertionError, match="dimension 9"):
        tensor.to_packed_tensor(9)


def test_scales_agree_with_ml_dtypes():
    codes = numpy.arange(256, dtype=numpy.uint8)
    scale = MXScaleTensor(size=(256,))
    scale.data = torch.from_numpy(codes)
    got = scale.to(torch.float32).cpu().numpy()
    numpy.testing.assert_array_equal(got, codes.view(ml_dtypes.float8_e8m0fnu).astype(numpy.float32))
    assert torch.equal(MXScaleTensor(torch.from_numpy(got[:255].copy())).data, scale.data[:255])


def test_scales_round_down_and_have_no_sign():
    assert MXScaleTensor(torch.tensor([1.99, 2.0, 3.9, 0.3])).to(torch.float32).tolist() == [1, 2, 2, 0.25]
    bad = torch.tensor([0.0, -1.0, float("nan"), float("inf")])
    assert MXScaleTensor(bad).data.tolist() == [255] * 4


def test_random_scales_lie_between():
    values = MXScaleTensor(size=(1000,)).random(0.5, 8.0).to(torch.float32)
    assert set(values.tolist()) == {0.5, 1, 2, 4, 8}
    assert MXScaleTensor(size=(1000,)).random().data.max() < 255


def test_wrong_use():
    with pytest.raises(ValueError, match="needs data or a size"):
        MXFP4Tensor()
    with pytest.raises(AssertionError, match="takes a tensor, got list"):
        MXScaleTensor([1])
    with pytest.raises(AssertionError, match="only float32"):
        MXFP4Tensor(torch.ones(2)).to(torch.float16)
