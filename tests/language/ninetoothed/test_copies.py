"""Copies of symbols and tensors, and symbols sent between processes."""

import copy
import pickle

import pytest
import torch

from tilery import ninetoothed
from tilery.ninetoothed import Symbol, Tensor, block_size

META, CONSTEXPR, PLAIN = Symbol("META", meta=True), Symbol("CONSTEXPR", constexpr=True, lower_bound=3), Symbol("plain")
SYMBOLS = [META, CONSTEXPR, PLAIN, block_size(64, 128), Symbol(7), META * 2 + CONSTEXPR // 3 - PLAIN % 4, Tensor(2).shape[1]]
COPIES = [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]


def attributes(symbol):
    names = "label", "meta", "constexpr", "lower_bound", "upper_bound", "power_of_two"
    return {repr(s): [getattr(s, name) for name in names] for s in symbol.names()}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("symbol", SYMBOLS, ids=repr)
def test_symbols(symbol, how):
    copied = how(symbol)
    assert copied == symbol and repr(copied) == repr(symbol)
    assert attributes(copied) == attributes(symbol)


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_is_changed_alone(how):
    symbol = META + 1
    copied = how(symbol)
    copied.find_and_replace(META, 4)
    assert copied == 5 and symbol == META + 1


def test_kernels_of_copies(device):
    def arrangement(x, y):
        block = pickle.loads(pickle.dumps(META))
        return copy.deepcopy(x).tile((block,)), y.tile((copy.deepcopy(META),))

    def application(x, y):
        y = x + 1  # noqa: F841

    kernel = ninetoothed.make(arrangement, application, copy.deepcopy((Tensor(1), Tensor(1))))
    x, y = torch.randn(11, device=device), torch.zeros(11, device=device)
    kernel(x, y, META=4)
    assert torch.equal(y, x + 1)
