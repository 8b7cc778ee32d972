"""Hints for targets reach the IR and change nothing that is computed."""

import pytest
import torch

from tilery import ninetoothed
from tilery.ninetoothed import Tensor


def application(x, y):
    y = x + 1  # noqa: F841


@pytest.mark.parametrize(
    "options, attributes",
    [
        ({}, None),
        ({"num_warps": 4, "num_stages": 2}, "{tile.num_warps = 4 : i64}"),
        ({"num_warps": (4, 8)}, None),  # alternatives to choose from are no hint
    ],
)
def test_of_kernels(options, attributes):
    kernel = ninetoothed.make(lambda *ts: tuple(t.tile((4,)) for t in ts), application, (Tensor(1), Tensor(1)), **options)
    x, y = torch.arange(6.0), torch.full((6,), float("nan"))
    kernel(x, y)
    assert torch.equal(y, x + 1)
    text = kernel.asm["tile"]
    assert f"attributes {attributes}" in text if attributes else "attributes" not in text
