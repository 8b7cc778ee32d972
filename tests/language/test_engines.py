"""Tests by `engine` run by the engine that they name."""

import pytest
import torch

from tilery import tileon
from tilery.core.oracle import OracleLaunch
from tilery.tileon import language as tl


@tileon.jit
def double(x, y):
    tl.store(y, tl.load(x) * 2)


@pytest.mark.parametrize("number", [1, 2])
def test_kernels_of_a_module(engine, device, monkeypatch, number):
    interpreted = []
    call = OracleLaunch.__call__
    monkeypatch.setattr(OracleLaunch, "__call__", lambda self, *args: interpreted.append(self) or call(self, *args))
    x, y = torch.full((1,), float(number)), torch.zeros(1)
    double[(1,)](x, y)
    assert y.item() == 2 * number and bool(interpreted) == (engine == "oracle")
